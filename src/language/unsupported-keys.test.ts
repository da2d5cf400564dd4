import { expect, test } from "vitest";
import { parseWorkerFile } from "./parse-worker-file.ts";
import { findUnsupportedKeys, unsupportedKeys } from "./unsupported-keys.ts";

const text = `---
auth: auto
sandbox: { network_enabled: [example.org], required: true }
limits: { usd: 0.5, turns: 3 }
---
`;

const written: Readonly<Record<string, string>> = {
  auth: "auto",
  "sandbox.network_enabled": "[example.org]",
};

test("each is found at its place", () => {
  const { file, diagnostics } = parseWorkerFile({ name: "a.worker", text });
  expect(diagnostics).toEqual([]);
  const found = file ? findUnsupportedKeys(file) : [];
  expect(found.map(({ path }) => path)).toEqual(Object.keys(written));
  expect(Object.keys(unsupportedKeys).map((key) => key.replace("[]", ""))).toEqual(Object.keys(written));
  for (const { path, span } of found) expect(text.slice(span.start, span.end)).toBe(written[path]);
});

test("what is not written, or says what is done anyway, is not found", () => {
  const { file } = parseWorkerFile({
    name: "a.worker",
    text: "---\nlimits: { turns: 1 }\nsandbox: { network_enabled: true, required: true }\nauth: off\n---\n",
  });
  expect(file && findUnsupportedKeys(file)).toEqual([]);
});
