import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LanguageServer, startLanguageServer } from "./language-server.ts";

/* Plays an editor against `llm-do lsp`, over stdio. */

const folder = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-lsp-")));
const bin = join(import.meta.dirname, "../../bin/llm-do.js");
let server: LanguageServer;

const files = {
  "llm-do.yaml": "model: anthropic:claude-sonnet-4-5\n",
  "main.worker": "---\ntoolsets:\n  filesystem: {}\n  reviewer: {}\n---\nReview.\n",
  "workers/reviewer.worker":
    "---\ndescription: Review one text.\ninput:\n  text: string, what to review\n---\nReview {{ text }}.\n",
  "templates/rubric.md": "Be strict.\n",
  "tools.ts": 'import { tool } from "llm-do";\n\nexport const count = tool({ input: { type: "object" }, run: () => 1 });\n',
};

beforeAll(async () => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  server = await startLanguageServer(folder, {}, [bin, "lsp", "--stdio"]);
}, 30_000);

afterAll(async () => {
  expect(await server.stop()).toBe(0);
  rmSync(folder, { recursive: true, force: true });
});

const worker = (frontmatter: string, body = "You help.\n") => `---\ndescription: Help.\n${frontmatter}\n---\n${body}`;

describe("diagnostics", () => {
  test("come with their ranges and hints, and go when the mistake goes", async () => {
    const editor = await server.open(worker("modle: anthropic:claude-sonnet-4-5"));
    expect(editor.diagnostics).toMatchObject([
      {
        code: "unknown-key",
        severity: 1,
        source: "llm-do",
        range: { start: { line: 2, character: 0 }, end: { line: 2, character: 5 } },
      },
    ]);
    expect(editor.diagnostics[0]?.message).toContain("did you mean `model`?");
    expect(await editor.change(worker("model: anthropic:claude-sonnet-4-5"))).toEqual([]);
  });

  test("are of the text that is typed: also of one that is no file yet, and that others use", async () => {
    await server.open("---\ndescription: New.\ninput: { note: string }\n---\nSay {{ note }}.\n", "workers/fresh.worker");
    const { diagnostics } = await server.open(worker("toolsets:\n  fresh: {}\n  stale: {}"), "caller.worker");
    expect(diagnostics.map(({ code, range }) => `${code} ${range.start.line}`)).toEqual(["unknown-toolset 4"]);
  });

  test("come under the address that the editor uses, also beside a document that is no file here", async () => {
    server.announce("file://elsewhere/share/x.worker");
    server.announce("untitled:Untitled-1");
    const { diagnostics } = await server.open(worker("modle: anthropic:m"), "of%20%40me%20%28new%29.worker");
    expect(diagnostics.map(({ code }) => code)).toContain("unknown-key");
  });

  test("leave prose alone, and find what is wrong in a template", async () => {
    const prose = "You `help`.\n\n1. List: call `x`. If there is\n   none: stop.\n\n- {a: b\n";
    expect((await server.open(worker("input: { a: string }", prose))).diagnostics).toEqual([]);
    const { diagnostics } = await server.open(worker("input: { a: string }", "Say {{ b }}.\n"));
    expect(diagnostics).toMatchObject([{ code: "template-variable", range: { start: { line: 4, character: 7 } } }]);
  });
});

test.each([
  ["keys at the top", worker("mo|"), ["model", "model_settings"]],
  ["keys of a scope", worker("sandbox:\n  paths:\n    a:\n      root: .\n      |"), ["mode", "suffixes", "max_file_bytes"]],
  ["values", worker("sandbox:\n  paths:\n    a: { root: ., mode: r| }"), ["ro", "rw"]],
  ["toolsets: built-in, workers, and code", worker("toolsets:\n  |"), ["filesystem", "shell", "reviewer", "count"]],
  ["keys of a built-in toolset", worker("toolsets:\n  filesystem:\n    |"), ["max_chars", "_approval_config"]],
  ["workers by name", worker("toolsets:\n  delegation:\n    allow_workers: [rev|]"), ["reviewer"]],
  ["workers in a list of lines", worker("toolsets:\n  delegation:\n    allow_workers:\n      - rev|"), ["reviewer"]],
  ["providers", worker("model: anth|"), ["anthropic:"]],
  ["models of a provider", worker("model: anthropic:claude-sonnet|"), ["anthropic:claude-sonnet-4-5"]],
  ["types of fields", worker("input:\n  a: str|"), ["string"]],
  ["template variables", worker("input: { text: string }", "Say {{ te|"), ["text"]],
  ["files of templates", worker("", 'Say {% render "ru|" %}'), ["rubric.md"]],
])("completes %s", async (_, text, expected) => {
  const labels = await (await server.open(text)).complete();
  expect(labels).toEqual(expect.arrayContaining(expected));
});

test("completes and checks the manifest, and a template's file by the worker that renders it", async () => {
  const manifest = await server.open("model: anthropic:claude-sonnet-4-5\nlim|", "llm-do.yaml");
  expect(await manifest.complete()).toContain("limits");
  expect((await manifest.change("modle: anthropic:claude-sonnet-4-5\n")).map(({ code }) => code)).toContain("unknown-key");
  expect(await manifest.change("model: anthropic:claude-sonnet-4-5\n")).toEqual([]);
  await server.open(worker("input: { text: string }", 'Say {% render "part.md" %}'), "renders.worker");
  const { diagnostics } = await server.open("{{ gone }}\n", "part.md");
  expect(diagnostics).toMatchObject([{ code: "template-variable", range: { start: { line: 0, character: 3 } } }]);
});

test.each([
  ["prose", worker("toolsets: {}", "You use the tools: mo|")],
  ["a comment", worker("# mo|")],
  ["prose with braces", worker("", "{ mo|")],
])("offers nothing in %s", async (_, text) => {
  const editor = await server.open(text);
  expect(await editor.complete()).toEqual([]);
  expect(await editor.hover()).toBe('""');
});

test("completes the tools of a toolset, as the program has them", async () => {
  const text = "toolsets:\n  filesystem:\n    _approval_config:\n      read_file: { pre_approved: true }";
  const editor = await server.open(worker(`${text}\n      wri|`), "approvals.worker");
  await editor.change(worker(text));
  await editor.change(worker(`${text}\n      wri`));
  expect(await editor.complete()).toContain("write_file");
});

test.each([
  ["a key", worker("mod|el: openai:gpt-5"), /\*\*model\*\* — string: /],
  ["a toolset, with what its tools do", worker("toolsets:\n  file|system: {}"), /- `write_file` asks: writes ask/],
  ["a model", worker("model: anthropic:claude-son|net-4-5"), /tokens of context; \$3 in/],
  [
    "a template variable",
    worker("input: { text: 'string, what to say' }", "Say {{ te|xt }}."),
    /\*\*text\*\* — string: what to say/,
  ],
])("explains %s", async (_, text, expected) => {
  expect(await (await server.open(text)).hover()).toMatch(expected);
});

test.each([
  ["a worker", worker("toolsets:\n  revi|ewer: {}"), "workers/reviewer.worker:0:0"],
  ["a worker in a list", worker("toolsets:\n  delegation: { allow_workers: [revie|wer] }"), "workers/reviewer.worker:0:0"],
  ["a tool", worker("toolsets:\n  cou|nt: {}"), "tools.ts:2:13"],
  ["a tool by its module", worker('toolsets:\n  "./tools.ts:cou|nt": {}'), "tools.ts:2:13"],
  ["a template's file", worker("", 'Say {% render "rub|ric.md" %}'), "templates/rubric.md:0:0"],
])("finds the definition of %s", async (_, text, expected) => {
  expect(await (await server.open(text)).define()).toBe(expected);
});

test("finds the field that a template variable prints", async () => {
  const editor = await server.open(worker("input:\n  text: string", "Say {{ te|xt }}."), "variable.worker");
  expect(await editor.define()).toBe("variable.worker:3:2");
});

test.each([
  ["modl|e: openai:gpt-5", "Write `model`", "model: openai:gpt-5"],
  ["toolsets:\n  fil|esytem: {}", "Write `filesystem`", "toolsets:\n  filesystem: {}"],
  ['limits: { turns: "1|00" }', "Write `100`", "limits: { turns: 100 }"],
  [
    "sandbox: { paths: { a: { root: ., suffixes: [p|df] } } }",
    "Write `.pdf`",
    "sandbox: { paths: { a: { root: ., suffixes: [.pdf] } } }",
  ],
  ["inp|ut: { text: strin }", undefined, ""],
])("fixes %s by its hint", async (wrong, title, right) => {
  const editor = await server.open(worker(wrong));
  if (title === undefined) expect(await editor.fixes()).toEqual([]);
  else expect(await editor.fix(title)).toBe(worker(right));
});
