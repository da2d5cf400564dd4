import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { renderEditorSchema } from "../../src/cli/programs/editor-schemas.ts";
import { type Editor, type LanguageServer, startLanguageServer } from "./language-server.ts";

/*
 * Plays docs/editors.md against the language server that they use. It takes a worker file for two
 * YAML documents: the frontmatter, and the instructions.
 */

const folder = mkdtempSync(join(tmpdir(), "llm-do-editor-"));
const example = join(import.meta.dirname, "../../examples/pitchdeck_eval");
const hint = "# yaml-language-server: $schema=./worker.schema.json";
let server: LanguageServer;

beforeAll(async () => {
  for (const name of ["worker", "manifest", "test"] as const) {
    writeFileSync(join(folder, `${name}.schema.json`), renderEditorSchema(name));
  }
  server = await startLanguageServer(folder);
}, 30_000);

afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Prose that is YAML by accident. */
const plain = "---\nYou help.\n";
/** Prose that is not: most of it. */
const prose = "---\nYou `help`.\n\n1. List the files: call `x`. If there is\n   none: stop.\n\n- a\n";

function frontmatter(lines: string, body = prose): string {
  return `---\n${hint}\n${lines}\n${body}`;
}

/** Each as `line:character message`, of the frontmatter, whose fences are lines 0 and `end`. */
function messagesBefore(end: number, { diagnostics }: Editor): string[] {
  return diagnostics
    .filter(({ range }) => range.start.line < end)
    .map(({ range, message }) => `${range.start.line}:${range.start.character} ${message}`);
}

describe("completion", () => {
  test.each([
    ["keys at the top", "name: a\n|", ["model", "toolsets", "sandbox", "attachment_policy", "limits", "locked"]],
    ["a key that was begun", "name: a\nto|", ["toolsets"]],
    ["the first key", "n|", ["name", "description"]],
    ["keys of a scope", "sandbox:\n  paths:\n    a:\n      root: .\n      |", ["mode", "suffixes", "max_file_bytes"]],
    ["the modes of a scope", "sandbox:\n  paths:\n    a:\n      root: .\n      mode: |", ["ro", "rw"]],
    ["the modes, on one line", "sandbox:\n  paths:\n    a: { root: ., mode: r| }", ["ro", "rw"]],
    ["the built-in toolsets", "toolsets:\n  f|", ["filesystem"]],
    ["keys of any toolset", "toolsets:\n  mine: { _| }", ["_approval_config", "_prefix", "_use"]],
    [
      "keys of a built-in toolset",
      "toolsets:\n  filesystem:\n    m|",
      ["_approval_config", "max_chars", "max_entries", "scopes"],
    ],
    ["an approval", "toolsets:\n  mine:\n    _approval_config:\n      x: { p| }", ["pre_approved"]],
    ["kinds of tools of the provider", "server_side_tools:\n  - tool_type: |", ["web_search", "code_execution"]],
    ["keys of limits", "limits:\n  t|", ["turns", "tokens", "tool_calls"]],
    ["whether logins are used", "auth: |", ['"off"', "auto", "required"]],
  ])("%s", async (_, lines, expected) => {
    const editor = await server.open(frontmatter(lines));
    expect(await editor.complete()).toEqual(expect.arrayContaining(expected));
  });
});

describe("hover", () => {
  test.each([
    ["compat|ible_models: ['a:*']", "Which models it may run on"],
    ["sandbox:\n  paths:\n    a: { root: ., mo|de: rw }", "Whether files can only be read, or also written."],
    ["toolsets:\n  mine:\n    _approval|_config: {}", "pre-approved"],
    ["toolsets:\n  file|system: {}", "The built-in toolset"],
    ["toolsets:\n  filesystem: { max_|chars: 5 }", "The most characters that one read"],
    ["limits: { tu|rns: 3 }", "Model responses in one call."],
  ])("%s", async (lines, expected) => {
    const editor = await server.open(frontmatter(lines));
    expect(await editor.hover()).toContain(expected);
  });
});

describe("mistakes are marked", () => {
  test.each([
    ["a wrong key", "toolset: {}", "2:0 Property toolset is not allowed."],
    ["a wrong nested key", "limits: { turn: 3 }", "2:10 Property turn is not allowed."],
    ["a wrong key of a toolset", "toolsets:\n  filesystem: { max_char: 3 }", "3:16 Property max_char is not allowed."],
    ["a wrong mode", "sandbox: { paths: { a: { root: ., mode: w } } }", '2:40 Value is not accepted. Valid values: "ro", "rw".'],
    ["a missing key", "sandbox: { paths: { a: {} } }", '2:20 Missing property "root".'],
    ["a wrong type", "description: 3", '2:13 Incorrect type. Expected "string".'],
  ])("%s", async (_, lines, expected) => {
    const editor = await server.open(frontmatter(lines));
    expect(messagesBefore(lines.split("\n").length + 2, editor)).toEqual([expected]);
    expect(editor.diagnostics[0]?.severity).toBe(1);
  });
});

describe("what is right is not", () => {
  test.each([
    ["no key at all", ""],
    ["short notation", "input:\n  company: string, the name\n  tags?(array, at most three): string\noutput: string, the answer"],
    [
      "JSON Schema",
      "input: { type: object, properties: { a: { type: string } } }\noutput: { $ref: '#/$defs/a', $defs: { a: {} } }",
    ],
    ["a schema in code", "input: ./schemas.ts:Input\noutput: ./schemas.ts:Output"],
    ["toolsets", "toolsets:\n  filesystem:\n  helper: {}\n  ./tools.ts:db: { a: { b: 1 }, _prefix: db_ }"],
    ["own keys", "x-owner: me\nversion: 1.10\nmetadata: { a: [1] }"],
  ])("%s", async (_, lines) => {
    expect((await server.open(frontmatter(lines, plain))).diagnostics).toEqual([]);
  });

  test.each(["main.worker", "pitch_evaluator.worker"])("the example's %s", async (name) => {
    const text = readFileSync(join(example, name), "utf8").replace("---\n", `---\n${hint}\n`);
    const end = text.split("\n").indexOf("---", 1);
    expect(messagesBefore(end, await server.open(text))).toEqual([]);
    const [, frontmatterAlone = ""] = text.split(/^---$/m);
    expect((await server.open(frontmatterAlone)).diagnostics).toEqual([]);
  });
});

describe("the instructions are a second document to the server", () => {
  test("they are held against no schema, because the hint is part of the first", async () => {
    expect((await server.open(frontmatter("name: a", plain))).diagnostics).toEqual([]);
  });

  test("where they are no YAML they are marked, and the frontmatter works all the same", async () => {
    const { diagnostics } = await server.open(frontmatter("name: a"));
    expect(diagnostics.length).toBeGreaterThan(0);
    expect(diagnostics.every(({ range }) => range.start.line > 3)).toBe(true);
  });

  test("a schema for all *.worker in the settings would be held against them too", async () => {
    const schema = pathToFileURL(join(folder, "worker.schema.json")).href;
    const other = await startLanguageServer(folder, { schemas: { [schema]: ["*.worker"] } });
    const { diagnostics } = await other.open("---\nname: a\n---\nYou help: yes.\n");
    expect(diagnostics.map(({ message }) => message)).toEqual(["Property You help is not allowed."]);
    await other.stop();
  });

  test("without validation nothing is marked, and keys are completed and explained", async () => {
    const quiet = await startLanguageServer(folder, { validate: false });
    const editor = await quiet.open(frontmatter("to|olset: {}"));
    expect(editor.diagnostics).toEqual([]);
    expect(await editor.complete()).toContain("toolsets");
    expect(await (await quiet.open(frontmatter("lim|its: {}"))).hover()).toContain("How much it may spend.");
    await quiet.stop();
  });

  test("formatting would change them, and can be turned off", async () => {
    const text = frontmatter("name: a", "---\nYou help\n   with   this.\n");
    const formatting = await startLanguageServer(folder, { format: { enable: true } });
    await formatting.open("a: 1\n", "first.yaml");
    expect((await (await formatting.open(text)).format())[0]?.newText).toContain("\nwith   this.\n");
    await formatting.stop();
    const off = await startLanguageServer(folder, { format: { enable: false } });
    await off.open("a: 1\n", "first.yaml");
    expect(await (await off.open(text)).format()).toEqual([]);
    await off.stop();
  });
});

test("the manifest is plain YAML", async () => {
  const line = "# yaml-language-server: $schema=./manifest.schema.json\n";
  const completing = await server.open(`${line}name: a\n|`, "llm-do.yaml");
  expect(await completing.complete()).toEqual(expect.arrayContaining(["entry", "model", "profiles", "approval"]));
  expect((await server.open(`${line}name: a\nx-own: 1\n`, "own.yaml")).diagnostics).toEqual([]);
  const wrong = await server.open(`${line}nam: a\n`, "wrong.yaml");
  expect(wrong.diagnostics.map(({ message }) => message)).toEqual(["Property nam is not allowed."]);
});

test("a test file is plain YAML", async () => {
  const line = "# yaml-language-server: $schema=./test.schema.json\n";
  const completing = await server.open(`${line}cases:\n  - name: a\n    expect:\n      |`, "main.test.yaml");
  expect(await completing.complete()).toEqual(expect.arrayContaining(["output", "calls", "files", "judge"]));
  for (const name of ["pitchdeck_eval", "database", "recursive_summarizer"]) {
    const text = readFileSync(join(example, "..", name, "main.test.yaml"), "utf8").replace(/^#.*\n/, line);
    expect((await server.open(text, `${name}.test.yaml`)).diagnostics).toEqual([]);
  }
  const wrong = await server.open(`${line}cases:\n  - { name: a, scrpt: b.yaml }\n`, "wrong.test.yaml");
  expect(wrong.diagnostics.map(({ message }) => message)).toEqual(["Property scrpt is not allowed."]);
});
