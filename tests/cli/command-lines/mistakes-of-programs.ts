/*
 * Sixty mistakes that users make, written from the documentation alone, with what is to be said of each: the place, the part that is
 * wrong, and the remedy.
 */

/** A mistake in the files of a program or in a command line. `says`: texts of stderr or stdout. */
export interface Mistake {
  readonly name: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly command: readonly string[];
  readonly code: number;
  readonly says: readonly (string | RegExp)[];
}

const worker = (settings: string, body = "Read every file.") => `---\n${settings.trim()}\n---\n${body}\n`;
const script = "- reply: fine\n";
const writes = "- reply: { calls: [{ tool: write_file, args: { path: out/a.md, content: hi } }] }\n- reply: done\n";
const files = "sandbox: { paths: { out: { root: ./out, mode: rw } } }\ntoolsets: { filesystem: {} }";
const model = ["--model", "scripted:s.yaml"];
const check = ["check", ...model];
const checkCode = ["check", "--trust", ...model];

const of = (name: string, text: string, says: readonly (string | RegExp)[], code = 2): Mistake => ({
  name,
  files: { "main.worker": text, "s.yaml": script },
  command: check,
  code,
  says,
});
const manifest = (name: string, text: string, says: readonly (string | RegExp)[], code = 2): Mistake => ({
  name,
  files: { "main.worker": worker(files), "s.yaml": writes, "llm-do.yaml": text },
  command: check,
  code,
  says,
});
const testFile = (name: string, text: string, says: readonly (string | RegExp)[], code = 2): Mistake => ({
  name,
  files: { "main.worker": worker(files), "s.yaml": writes, "main.test.yaml": text },
  command: ["test"],
  code,
  says,
});
const code = (name: string, text: string, says: readonly (string | RegExp)[], rc = 2): Mistake => ({
  name,
  files: { "main.worker": worker("toolsets: { greet: {} }"), "s.yaml": script, "tools.ts": text },
  command: checkCode,
  code: rc,
  says,
});
const line = (name: string, command: readonly string[], says: readonly (string | RegExp)[], rc = 2): Mistake => ({
  name,
  files: { "main.worker": worker(`input: { topic: string }\n${files}`), "s.yaml": writes },
  command,
  code: rc,
  says,
});
const imports = 'import { tool } from "llm-do";\nimport { z } from "zod";\n';

export const mistakes: readonly Mistake[] = [
  // Worker files
  of("a toolset is misspelt", worker("toolsets:\n  filesytem: {}"), ["main.worker:3", "`filesytem`", "`filesystem`"]),
  of("folders stand directly under sandbox", worker("sandbox:\n  notes: { root: . }\ntoolsets: { filesystem: {} }"), [
    "main.worker:3",
    "`notes`",
    /paths: \{ notes|under `(sandbox\.)?paths`/,
  ]),
  of("a limit is misspelt", worker("limits:\n  turn: 5"), ["main.worker:3", "`turn`", "`turns`"]),
  of("a type of another language", worker("output:\n  score: float"), ["main.worker:3", "`float`", "`number`"]),
  of("a list in brackets as a type", worker("output:\n  tags: [string]"), ["main.worker:3", "tags(array): string"]),
  of("the variable begins with input", worker("input:\n  company: string", "About {{ input.company }}."), [
    "main.worker:5",
    "`input",
    "{{ company }}",
  ]),
  of(
    "single braces around an input",
    worker("input:\n  company: string", "About {company}."),
    ["main.worker:5", "`{company}`", "{{ company }}"],
    0,
  ),
  of("a filter for dates", worker("input:\n  day: string", "Of {{ day | date: '%Y' }}."), [
    "main.worker:5",
    "`date`",
    /field of the input|as an? (input|field)/,
  ]),
  of("render without quotes", worker("description: x", "{% render style.md %}"), ["main.worker:4", "style.md", /"style\.md"/]),
  of("a model without its provider", worker("model: claude-sonnet-4-5"), [
    "main.worker:2",
    "claude-sonnet-4-5",
    "anthropic:claude-sonnet-4-5",
  ]),
  of("max_tokens", worker("model_settings:\n  max_tokens: 500"), ["main.worker:3", "`max_tokens`", "`max_output_tokens: …`"]),
  of("thinking as a setting", worker("model_settings:\n  thinking: high"), ["main.worker:3", "`thinking`", "`reasoning: …`"]),
  of("a server tool in one word", worker("server_side_tools:\n  - { tool_type: websearch }"), [
    "main.worker:3",
    "`websearch`",
    "`web_search`",
  ]),
  of("suffixes of attachments", worker("attachment_policy:\n  suffixes: [.pdf]"), [
    "main.worker:3",
    "`suffixes`",
    "`allowed_suffixes`",
  ]),
  of(
    "write: true for a folder",
    worker("sandbox:\n  paths:\n    out: { root: ./out, write: true }\ntoolsets: { filesystem: {} }"),
    ["main.worker:4", "`write`", "mode: rw"],
  ),
  of("pre_approved beside the configuration", worker("toolsets:\n  filesystem: { pre_approved: true }"), [
    "main.worker:3",
    "`pre_approved`",
    "_approval_config",
  ]),
  of(
    "pre_approved as a text",
    worker(
      "toolsets:\n  filesystem:\n    _approval_config: { write_file: pre_approved }\nsandbox: { paths: { out: { root: ./out, mode: rw } } }",
    ),
    ["main.worker:4", "write_file", "{ pre_approved: true }"],
  ),
  of(
    "approval_config without its underscore",
    worker("toolsets:\n  filesystem:\n    approval_config: { read_file: { pre_approved: true } }"),
    ["main.worker:4", "`approval_config`", "`_approval_config`"],
  ),
  of("shell rules as texts", worker("toolsets:\n  shell:\n    rules: [git status]"), [
    "main.worker:4",
    "rules.0",
    '{ pattern: "git status" }',
  ]),
  of("tools.ts without its s", worker('toolsets:\n  "./tool.ts:greet": {}'), ["main.worker:3", "tool.ts"]),
  of("a profile that is not there", worker("extends: strict"), ["main.worker:2", "`strict`", /profiles|\.\/strict\.worker/]),
  {
    name: "a fragment without its suffix",
    files: { "main.worker": worker("fragments: [./style]"), "style.md": "Be brief.\n", "s.yaml": script },
    command: check,
    code: 2,
    says: ["main.worker:2", "./style", "style.md"],
  },
  {
    name: "the instructions misspell a worker",
    files: {
      "main.worker": worker("toolsets: { summarizer: {} }", "Ask `sumarizer` for each file."),
      "summarizer.worker": worker("description: Sums up."),
      "s.yaml": script,
    },
    command: check,
    code: 0,
    says: ["main.worker:4", "`sumarizer`", "`summarizer`"],
  },
  of("a file as a type", worker("input:\n  deck: file"), ["main.worker:3", "`file`", "`attachment`"]),
  of("one value for an enum", worker("output:\n  verdict(enum): go"), ["main.worker:3", "verdict", /\[go\]|list/]),
  of("auth: true", worker("auth: true"), ["main.worker:2", "auth", "`required`"]),
  of("a window in thousands", worker("context:\n  window: 200k"), ["main.worker:3", "window", "200000"]),
  // Manifests
  manifest("a manifest that approves all", "approval:\n  mode: approve_all\n", ["llm-do.yaml:2", "approve_all", "--approve-all"]),
  manifest("a rule with its effect as the key", "approval:\n  rules: [{ block: write_file }]\n", [
    "llm-do.yaml:2",
    "`block`",
    "effect: block",
  ]),
  manifest("a rule with an open bracket", "approval:\n  rules: [{ effect: block, rule: 'write_file(out/*' }]\n", [
    "llm-do.yaml:2",
    "write_file(out/*",
    ")",
  ]),
  manifest(
    "a rule of an argument that is not there",
    "approval:\n  rules: [{ effect: ask, rule: 'write_file(file=out/*)' }]\n",
    ["llm-do.yaml:2", "`file`", "`path`"],
    0,
  ),
  manifest("the folder of generated workers", "generated_workers:\n  dir: made\n", ["llm-do.yaml:2", "`dir`", "`folder`"]),
  manifest("an address without its scheme", "mcp_servers:\n  wiki: { url: wiki.example.org/mcp }\n", [
    "llm-do.yaml:2",
    "wiki.example.org/mcp",
    "https://",
  ]),
  manifest(
    "a server with a command and an address",
    "mcp_servers:\n  wiki: { command: node, url: 'https://wiki.example.org/mcp' }\n",
    ["llm-do.yaml:2", "command", /not both|either|one of/],
  ),
  manifest("a provider of type openai", "providers:\n  mine: { type: openai, base_url: 'http://localhost:1234/v1' }\n", [
    "llm-do.yaml:2",
    "openai",
    "openai-compatible",
  ]),
  manifest("modules as a text", "allowed_modules: '@acme/*'\n", ["llm-do.yaml:1", "allowed_modules", /\["@acme\/\*"\]|list/]),
  manifest("a named configuration without _use", "toolsets:\n  reader: { filesystem: {} }\n", [
    "llm-do.yaml:2",
    /`filesystem`|reader/,
    "_use: filesystem",
  ]),
  manifest("the entry is misspelt", "entry: mian\n", ["llm-do.yaml:1", "`mian`", "main"]),
  // Tests and scripts
  testFile("a case without a name", "script: s.yaml\ncases:\n  - input: x\n    expect: { output: done }\n", [
    "main.test.yaml:3",
    "name",
  ]),
  testFile(
    "refused names no tool",
    "script: s.yaml\ncases:\n  - name: a\n    input: x\n    expect: { refused: { wirte_file: 0 } }\n",
    ["main.test.yaml:5", "`wirte_file`", "`write_file`"],
  ),
  testFile("stop has another word", "script: s.yaml\ncases:\n  - name: a\n    input: x\n    expect: { stop: finished }\n", [
    "main.test.yaml:5",
    "finished",
    "`done`",
  ]),
  testFile(
    "approve is a list of all",
    "script: s.yaml\ncases:\n  - name: a\n    input: x\n    approve: [all]\n    expect: { output: done }\n",
    ["main.test.yaml:5", "`all`", "approve: all"],
  ),
  testFile(
    "a script and a recording",
    "cases:\n  - name: a\n    input: x\n    script: s.yaml\n    recording: r.jsonl\n    expect: { output: done }\n",
    ["main.test.yaml:5", "recording", "script"],
  ),
  testFile(
    "an input field that is not there",
    "script: s.yaml\ncases:\n  - name: a\n    input: { topic: x }\n    expect: { output: done }\n",
    ["main.test.yaml:4", "topic", "input"],
  ),
  {
    name: "a script with replay for reply",
    files: { "main.worker": worker("description: x"), "s.yaml": "- replay: hi\n" },
    command: check,
    code: 2,
    says: ["s.yaml:1", "`replay`", "`reply`"],
  },
  {
    name: "a script whose call has a name",
    files: { "main.worker": worker(files), "s.yaml": "- reply: { calls: [{ name: read_file, args: { path: out/a.md } }] }\n" },
    command: check,
    code: 2,
    says: ["s.yaml:1", "`name`", "`tool`"],
  },
  // Code
  code(
    "approval in one word",
    `${imports}export const greet = tool({ description: "x", input: z.object({}), approval: "preapproved" as never, run: () => 1 });\n`,
    ["main.worker:2", "preapproved", "pre-approved"],
  ),
  code(
    "a time-out under another name",
    `${imports}export const greet = tool({ description: "x", input: z.object({}), timeout: 30, run: () => 1 } as never);\n`,
    ["main.worker:2", "`tool.timeout`", "`timeoutSeconds`"],
  ),
  code(
    "the input as a plain map",
    `${imports}export const greet = tool({ description: "x", input: { name: "string" } as never, run: () => 1 });\n`,
    ["main.worker:2", "input", "z.object("],
  ),
  code("require in a module", `const { tool } = require("llm-do");\nexport const greet = tool({});\n`, [
    "tools.ts:1",
    "require",
    "import { ",
  ]),
  code("a package that is not there", `import { tool } from "llmdo";\nexport const greet = tool({});\n`, [
    "tools.ts:1",
    "llmdo",
    "llm-do",
  ]),
  // Command lines
  line("--approve all", [".", "-i", "topic=x", ...model, "--approve", "all"], ["--approve", "`all`", "--approve-all"], 4),
  line(
    "--deny with a misspelt tool",
    [".", "-i", "topic=x", ...model, "--approve-all", "--deny", "wirte_file"],
    ["wirte_file", "`write_file`"],
    0,
  ),
  line(
    "a limit in words",
    [".", "-i", "topic=x", ...model, "--limit", "turns=five"],
    ["--limit", "turns=five", /turns=\d+|number/],
  ),
  line("a field that is not there", [".", "-i", "topc=x", ...model], ["-i topc=x", "topc", "topic"]),
  line("input that is no JSON", [".", "--input-json", "{topic: x}", ...model], ["--input-json", "JSON", '{"topic"']),
  line("a scope that is not declared", [".", "-i", "topic=x", ...model, "--scope", "ot=/tmp"], ["--scope", "`ot`", "`out`"]),
  line("ls in place of runs list", ["ls"], ["ls", "llm-do runs list"]),
  line("a worker file that is misspelt", ["check", "main.workr"], ["main.workr", "main.worker"]),
  line(
    "minutes as a time-out",
    [".", "-i", "topic=x", ...model, "--approval-timeout", "5m"],
    ["--approval-timeout", "5m", "300"],
  ),
];
