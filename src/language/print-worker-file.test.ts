import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { parseWorkerFile } from "./parse-worker-file.ts";
import { printWorkerFile } from "./print-worker-file.ts";

const word = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
const anyText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.constantFrom(
    "a: b",
    "a #b",
    "- a",
    "---",
    "a\n---\nb",
    "*a",
    `$${"{X}"}`,
    "{{ x }}",
    "null",
    "yes",
    "1.10",
    " a ",
    "\ta",
    "a\r\nb",
    "'\"",
    "# a",
    "a\u2028b",
  ),
);
const text = anyText.filter((value) => value.trim() !== "");
const span = { source: { name: "a.worker", text: "" }, start: 0, end: 0 };
const spanned = <T>(value: T) => ({ value, span });
const json = fc.jsonValue({ maxDepth: 3 });

test("what is printed is read back, whatever characters it has", () => {
  const parts = fc.record({
    name: word,
    description: text,
    model: text,
    config: fc.dictionary(word, json),
    extra: json,
    instructions: anyText,
  });
  fc.assert(
    fc.property(parts, ({ name, description, model, config, extra, instructions }) => {
      const toolset = { reference: spanned("@acme/tools:Tools"), config: spanned(config as JsonObject), configSpans: new Map() };
      const text = printWorkerFile({
        source: span.source,
        name: spanned(name),
        description: spanned(description),
        model: spanned(model),
        toolsets: spanned([toolset]),
        extras: { "x-extra": extra as JsonValue },
        instructions: spanned(instructions),
      });
      const { file, diagnostics } = parseWorkerFile({ name: "a.worker", text });
      expect(diagnostics).toEqual([]);
      expect(file?.name?.value).toBe(name);
      expect(file?.description?.value).toBe(description);
      expect(file?.model?.value).toBe(model);
      expect(plain(file?.toolsets?.value[0]?.config.value)).toEqual(plain(config));
      expect(plain(file?.extras["x-extra"])).toEqual(plain(extra));
      expect(file?.instructions.value).toBe(instructions);
    }),
    { seed: 3, numRuns: 500 },
  );
});

/** JSON has one zero. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
