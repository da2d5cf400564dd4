import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { manifestSchema, parseManifest } from "./manifest.ts";

const parse = (text: string) => parseManifest({ name: "llm-do.yaml", text });
const codesOf = (text: string) => parse(text).diagnostics.map(({ code }) => code);

const full = `
name: decks
version: 1.10
description: Judge decks.
entry: tools.ts:main
model: anthropic:m
toolsets: { reader: { _use: filesystem, max_chars: 5 } }
sandbox: { paths: { decks: { root: ./input } } }
profiles: { careful: { model: anthropic:x, limits: { turns: 3 } } }
limits: { turns: 5 }
model_settings: { connect_timeout: 3, idle_timeout: 60 }
approval: { mode: reject_all }
allowed_modules: ["@acme/*"]
args: { input: all }
journal: false
x-own: [1]
`;

test("every key that is honoured is read", () => {
  const { file, diagnostics } = parse(full);
  expect(diagnostics).toEqual([]);
  expect(file.version?.value).toBe("1.10");
  expect(file.toolsets?.value[0]).toMatchObject({ reference: { value: "reader" }, use: { value: "filesystem" } });
  expect(file.profiles?.value[0]?.value.value.limits?.value.turns?.value).toBe(3);
  expect(file.args?.value.value).toEqual({ input: "all" });
});

test("editors are told the same", () => {
  const validate = new Ajv2020({ strict: false }).compile(manifestSchema);
  const { toolsets, approval, ...manifest } = {
    toolsets: {},
    approval: { mode: "approve_all" },
    name: "x",
    limits: { turns: 1 },
  };
  expect(validate({ ...manifest, toolsets })).toBe(true);
  expect(validate({ ...manifest, approval })).toBe(false);
  expect(validate({ modle: "x" })).toBe(false);
});

test.each([
  ["", []],
  ["# nothing\n", []],
  ["- a\n", ["manifest-not-map"]],
  ["just text", ["manifest-not-map"]],
  ["model: [a\n", ["yaml-syntax"]],
  ["modle: x\n", ["unknown-key"]],
  ["model_settings: { temperature: 1 }\n", ["unknown-key"]],
  ["model_settings: { connect_timeout: 0 }\n", ["invalid-value"]],
  ["toolsets: { filesystem: {} }\n", ["missing-key"]],
  ["approval: { mode: approve_all }\n", ["invalid-value"]],
  ["profiles: { a: { name: x } }\n", ["unknown-key"]],
  ["a: 1\na: 2\n", ["unknown-key", "duplicate-key"]],
  ["---\nmodel: anthropic:m\n", []],
])("%j", (text, codes) => {
  expect(codesOf(text)).toEqual(codes);
});
