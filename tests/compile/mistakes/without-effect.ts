import { type Mistakes, withTools } from "./mistake.ts";

const files = "sandbox: { paths: { notes: { root: ., mode: rw } } }\ntoolsets: { filesystem: {} }";
const main = (settings: string, text = "You help.") => `---\n${settings}\n---\n${text}\n`;
const withManifest = (manifest: string) => ({ "main.worker": main(files), "llm-do.yaml": manifest });
const servers = (entry: string, settings = "toolsets: { mcp: { servers: [notes] } }") => ({
  "main.worker": main(settings),
  "llm-do.yaml": `mcp_servers:\n  notes: ${entry}\n`,
});

/** What is written and would have no effect, or another one than was meant. */
export const withoutEffect: Mistakes = {
  "rule for a path without its scope": {
    files: withManifest('approval: { rules: [{ effect: block, rule: "write_file(a.md)" }] }\n'),
    reports: ["approval-rule-unused llm-do.yaml:1:44 warning"],
    says: ["`a.md` matches no path that is meant", "a path begins with the name of a scope: `notes/a.md`"],
  },
  "folders of a worker that has servers alone": {
    files: servers(
      "{ command: node, args: [x.mjs] }",
      "sandbox: { paths: { out: { root: . } } }\ntoolsets: { mcp: { servers: [notes] } }",
    ),
    reports: ["scopes-unused main.worker:2:21 warning"],
    says: ["no toolset of `main` uses its folders"],
  },
  "a tool of the instructions that is not there": {
    files: { "main.worker": main(files, "Use `delete_file` to remove each file in `notes`, and `raed_file` to read `a.md`.") },
    reports: ["instructions-tool main.worker:5:6 hint", "instructions-tool main.worker:5:56 hint"],
    says: ["`main` has no tool `delete_file`", "did you mean `read_file`?"],
  },
  "a worker of the instructions that is not named": {
    files: {
      "main.worker": main("description: x", "Ask `helper` for each. The text goes to `reader` later."),
      "helper.worker": main("description: Helps."),
      "reader.worker": main("description: Reads."),
    },
    reports: ["instructions-tool main.worker:4:6 hint"],
    says: ["name it under `toolsets`: `helper: {}`"],
  },
  "rules for paths that could be, and names of the instructions that are no tools": {
    files: {
      "llm-do.yaml":
        'approval: { rules: [{ effect: ask, rule: "write_file(notes/*)" }, { effect: ask, rule: "list_files(*)" }, { effect: ask, rule: "read_file(path=no*.md)" }] }\n',
      "main.worker": main(
        `input: { by_when: string }\noutput: { kind(enum): [a_bug, wish] }\n${files}`,
        "Use `read_file` on `notes`. Use `a.md`. Say `by_when` and `a_bug`. Use `git`, `snake_case` names and `filesystem`.",
      ),
    },
    reports: [],
    says: [],
  },
  "arguments of the manifest": {
    files: {
      "main.worker": main("input: { topic: string, level?: integer }"),
      "llm-do.yaml": "args:\n  topc: x\n  level: high\n",
    },
    reports: [
      "manifest-args llm-do.yaml:2:3 error",
      "manifest-args llm-do.yaml:2:3 error",
      "manifest-args llm-do.yaml:3:3 error",
    ],
    says: ["topic: is missing", "did you mean `topic`?", "level: must be integer"],
  },
  "attachments as texts": {
    files: { "main.worker": main("input: { attachments: string, text: string }") },
    reports: ["attachment-type main.worker:2:10 hint"],
    says: ["write `attachments(array): attachment`"],
  },
  "a model with a dot": {
    files: { "main.worker": main("model: anthropic:claude-sonnet-4.5") },
    model: null,
    reports: ["model-unlisted main.worker:2:8 hint"],
    says: ["did you mean `anthropic:claude-sonnet-4-5`?"],
  },
  "a model without its hyphen": {
    files: { "main.worker": main("model: openai:gpt5") },
    model: null,
    reports: ["model-unlisted main.worker:2:8 hint"],
    says: ["did you mean `openai:gpt-5`?"],
  },
  "a model with hyphens for dots": {
    files: { "main.worker": main("model: google:gemini-2-5-pro") },
    model: null,
    reports: ["model-unlisted main.worker:2:8 hint"],
    says: ["did you mean `google:gemini-2.5-pro`?"],
  },
  "the family of a model": {
    files: { "main.worker": main("model: anthropic:sonnet") },
    model: null,
    reports: ["model-unlisted main.worker:2:8 hint"],
    says: ["did you mean `anthropic:claude-sonnet-"],
  },
  "an unused server with a mistake": {
    files: servers("{ url: wiki.example.org/mcp }", "description: x"),
    reports: ["toolset-config llm-do.yaml:2:17 error"],
    says: ["`mcp_servers.notes.url` has to be an `http://` or `https://` address"],
  },
  "a server and a provider that nothing uses": {
    files: {
      "main.worker": main("description: x"),
      "llm-do.yaml":
        "mcp_servers:\n  notes: { command: notes-mcp }\nproviders:\n  mine: { type: openai-compatible, base_url: 'http://localhost:1/v1' }\n",
    },
    reports: ["manifest-entry-unused llm-do.yaml:2:3 hint", "manifest-entry-unused llm-do.yaml:4:3 hint"],
    says: ["names the MCP server `notes` under `mcp`", "has a model of the provider `mine`"],
  },
  "a secret among the arguments of a server": {
    files: servers("{ command: node, args: [x.mjs, --token, '${TOKEN}'] }"),
    reports: ["variable-literal llm-do.yaml:2:33 warning"],
    says: ["write it under `env` of the server"],
  },
  "a command line as the command": {
    files: servers("{ command: 'node notes-server.mjs' }"),
    reports: ["toolset-config llm-do.yaml:2:21 error"],
    says: ["write `command: node` and `args: [notes-server.mjs]`"],
  },
  "the name of a server as configuration": {
    files: { "main.worker": main("toolsets: { mcp: notes }") },
    reports: ["wrong-type main.worker:2:18 error"],
    says: ["write `mcp: { servers: [notes] }`"],
  },
  "a toolset as configuration": {
    files: { "main.worker": main("toolsets: { reader: filesystem }") },
    reports: ["wrong-type main.worker:2:21 error"],
    says: ["write `reader: { _use: filesystem }`"],
  },
  "the mode of approval as a text": {
    files: withManifest("approval: reject_all\n"),
    reports: ["wrong-type llm-do.yaml:1:11 error"],
    says: ["write `{ mode: reject_all }`"],
  },
  "choices and defaults of another language": {
    files: {
      "main.worker": main("output: { verdict: 'enum(go, pass)', kind: 'bug | wish', level: 'integer = 3', names: 'list[str]' }"),
    },
    reports: [21, 45, 66, 88].map((column) => `schema-type main.worker:2:${column} error`),
    says: [
      "written `verdict(enum): [go, pass]`",
      "written `kind(enum): [bug, wish]`",
      "there are no defaults: write `level?: integer`",
      "written `names(array): string`",
    ],
  },
  "extends that is nearly the file itself": {
    files: { "main.worker": main("extends: ./mein.worker") },
    reports: ["reference-missing main.worker:2:10 error"],
    says: [],
  },
  "a type that is imported as a value": {
    files: withTools('import { WorkerRuntime } from "llm-do";\nexport const w = 1;\n'),
    reports: ["code-failed tools.ts:1:10 error"],
    says: ['write `import type { WorkerRuntime } from "llm-do"`'],
  },
  "a module without its suffix": {
    files: { ...withTools('import { say } from "./say";\nexport const w = say;\n'), "say.ts": "export const say = 1;\n" },
    reports: ["code-failed tools.ts:1:24 error"],
    says: ["write `./say.ts`, with its suffix"],
  },
  "a schema that cannot be told to a model": {
    files: withTools(
      'import { tool } from "llm-do";\nconst input = { "~standard": { version: 1, vendor: "acme", validate: () => ({ value: 1 }) } };\nexport const w = tool({ input: input as never, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:3:18 error"],
    says: ["the acme schema cannot say its JSON Schema; use its JSON Schema extension, or pass JSON Schema"],
  },
  "a function in the place of a tool": {
    files: withTools("export function w(name: string) {\n  return name;\n}\n"),
    reports: ["toolset-not-one tools.ts:1:17 error"],
    says: ["write `export const w = tool({ … })`"],
  },
};
