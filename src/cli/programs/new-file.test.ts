import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNodeHost } from "../../host/node-host.ts";
import { createNewFile, createReplacement } from "./new-file.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "llm-do-new-file-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("a file that is written piece by piece", () => {
  it("is there when it is whole, and nothing of it before, or where it is given up", async () => {
    const path = join(folder, "a.jsonl");
    {
      await using file = await createNewFile(path);
      await file.write("x".repeat(1_500_000));
      expect(readdirSync(folder)).not.toContain("a.jsonl");
    }
    expect(readdirSync(folder)).toEqual([]);
    await using file = await createNewFile(path);
    await file.write("1\n");
    await file.write("2\n");
    await file.finish();
    expect([readdirSync(folder), readFileSync(path, "utf8"), statSync(path).mode & 0o077]).toEqual([["a.jsonl"], "1\n2\n", 0]);
  });

  it("replaces no new file, and keeps a link and the mode of one that it is to replace", async () => {
    const [path, link] = [join(folder, "a.jsonl"), join(folder, "link.jsonl")];
    await using first = await createNewFile(path);
    writeFileSync(path, "mine\n", { mode: 0o640 });
    await expect(first.finish()).rejects.toThrow("there is such a file");
    symlinkSync(path, link);
    await using second = await createReplacement(link);
    await second.write("ours\n");
    await second.finish();
    expect([readFileSync(path, "utf8"), statSync(path).mode & 0o777, readdirSync(folder)]).toEqual([
      ...["ours\n", 0o640],
      expect.arrayContaining(["a.jsonl", "link.jsonl"]),
    ]);
  });

  it("removes what killed processes of this machine had begun, and nothing else", async () => {
    const self = createNodeHost().processes.self.split(" ");
    const [machine = "", boot = "", , start = ""] = self;
    const partOf = (...process: readonly string[]) => `.${process.join("_")}_1700000000000.jsonl.part`;
    const dead = partOf(machine, boot, "999999999", start);
    const others = [partOf(...self), partOf("elsewhere", boot, "999999999", start), ".mine.jsonl.part"];
    for (const name of [dead, ...others]) writeFileSync(join(folder, name), "");
    await using file = await createNewFile(join(folder, "a.jsonl"));
    await file.finish();
    expect(readdirSync(folder).sort()).toEqual([...others, "a.jsonl"].sort());
  });
});
