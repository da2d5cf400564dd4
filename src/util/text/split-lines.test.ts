import { describe, expect, it } from "vitest";
import { splitLines } from "./split-lines.ts";

async function* chunksOf(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function linesOf(text: string, size: number, longest?: number): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const line of splitLines(chunksOf(Buffer.from(text), size), longest)) lines.push(line);
  return lines;
}

describe("splitLines", () => {
  it.each([1, 2, 3, 7, 1000])("splits at line feeds alone, in chunks of %d bytes", async (size) => {
    const text = '{"a":"\u2028 ü€😀 \u0085"}\r\n\n\ufefflast';
    expect(await linesOf(text, size)).toEqual(['{"a":"\u2028 ü€😀 \u0085"}\r\n', "\n", "\ufefflast"]);
    expect(await linesOf(`${text}\n`, size)).toHaveLength(3);
  });

  it("yields nothing for an empty text", async () => expect(await linesOf("", 1)).toEqual([]));

  it("rejects a line that does not end, and names it", async () => {
    await expect(linesOf(`a\n${"x".repeat(100)}`, 10, 50)).rejects.toThrow("line 2 is longer than 50 characters");
  });
});
