import { expect, test } from "vitest";
import { parseWorkerFile } from "./parse-worker-file.ts";
import { findUnsupportedKeys, unsupportedKeys } from "./unsupported-keys.ts";

const text = `---
auth: off
debug: false
sandbox: { network_enabled: true, required: true }
---
`;

const written: Readonly<Record<string, string>> = {
  auth: "off",
  debug: "false",
  "sandbox.network_enabled": "true",
  "sandbox.required": "true",
};

test("each is found at its place", () => {
  const { file, diagnostics } = parseWorkerFile({ name: "a.worker", text });
  expect(diagnostics).toEqual([]);
  const found = file ? findUnsupportedKeys(file) : [];
  expect(found.map(({ path }) => path)).toEqual(Object.keys(unsupportedKeys));
  for (const { path, span } of found) expect(text.slice(span.start, span.end)).toBe(written[path]);
});

test("what is not written is not found", () => {
  const { file } = parseWorkerFile({ name: "a.worker", text: "---\nlimits: { turns: 1 }\nsandbox: {}\n---\n" });
  expect(file && findUnsupportedKeys(file)).toEqual([]);
});
