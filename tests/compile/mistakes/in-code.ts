import { type Mistakes, withTools } from "./mistake.ts";

export const inCode: Mistakes = {
  "tool needsAproval": {
    files: {
      "main.worker": "---\ntoolsets: { tb: {} }\n---\nYou help.\n",
      "tools.ts":
        'import { tool, toolset, blocked } from "llm-do";\nexport const tb = toolset({ name: "tb", tools: () => [tool({ name: "w", input: {type:"object"}, run: () => "ran" })],\n needsAproval: () => blocked("never") });\n',
    },
    reports: ["code-failed tools.ts:2:19 error"],
    says: ["`tools.ts` does not load: `toolset.needsAproval` is no option; did you mean `needsApproval`?"],
  },
  "tool preapproved": {
    files: withTools(
      'import { tool } from "llm-do";\nexport const w = tool({ input: {type:"object"}, approval: "preapproved", run: () => "ran" });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `tool.approval` must be `pre-approved` or `ask`; did you mean `pre-approved`?"],
  },
  "tool no run": {
    files: withTools('import { tool } from "llm-do";\nexport const w = tool({ input: {type:"object"} });\n'),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `tool.run` is missing; it must be a function"],
  },
  "tool no input": {
    files: withTools('import { tool } from "llm-do";\nexport const w = tool({ description: "x", run: () => 1 });\n'),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `tool.input` is missing; it must be a schema of zod, valibot or arktype, or JSON Schema"],
  },
  "tool shape input": {
    files: withTools('import { tool } from "llm-do";\nexport const w = tool({ input: { name: "string" }, run: () => 1 });\n'),
    reports: ["code-failed tools.ts:2:18 error"],
    says: [
      '`tools.ts` does not load: `tool.input` must be a schema: `z.object({ name: z.string() })`, or JSON Schema with `type: "object"` and `properties`',
    ],
  },
  throw: {
    files: withTools(
      'import { tool } from "llm-do";\nthrow new Error("boom");\nexport const w = tool({ input: {type:"object"}, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:7 error"],
    says: ["`tools.ts` does not load: boom"],
  },
  "missing pkg": {
    files: withTools(
      'import { tool } from "llm-do";\nimport _ from "lodash";\nexport const w = tool({ input: {type:"object"}, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:16 error"],
    says: ["run `npm install lodash` in the program's folder"],
  },
  "missing file": {
    files: withTools(
      'import { tool } from "llm-do";\nimport _ from "./lib.ts";\nexport const w = tool({ input: {type:"object"}, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: there is no module `lib.ts`"],
  },
  "missing export": {
    files: withTools('import { tol } from "llm-do";\nexport const w = tol({ input: {type:"object"}, run: () => 1 });\n'),
    reports: ["code-failed tools.ts:1:10 error"],
    says: ["`tools.ts` does not load: The requested module 'llm-do' does not provide an export named 'tol'"],
  },
  syntax: {
    files: withTools('import { tool } from "llm-do";\nexport const w = tool({ input: {type:"object", run: () => 1 });\n'),
    reports: ["code-failed tools.ts:2:62 error"],
    says: ["`tools.ts` does not load: a syntax error (Expected ',', got ')')."],
  },
  enum: {
    files: withTools(
      'import { tool } from "llm-do";\nenum A { B }\nexport const w = tool({ input: {type:"object"}, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:1 error"],
    says: [
      "`tools.ts` does not load: TypeScript that only a compiler can turn into JavaScript (TypeScript enum is not supported in strip-only mode). Types are stripped, nothing is compiled: write an enum as a const object, a parameter property as a field with an assignment, a namespace as a module.",
    ],
  },
  function: {
    files: withTools("export function w() { return 1 }\n"),
    reports: ["toolset-not-one main.worker:2:13 error"],
    says: ["write `export const w = tool({ input: …, run: … })`"],
  },
  "gated again": {
    files: withTools(
      'import { createToolGate } from "llm-do/approval";\nconst gate = createToolGate({ approval: { mode: "approve_all" } });\nexport const w = gate.gate({ t: { inputSchema: { type: "object" }, execute: () => 1 } });\n',
    ),
    reports: ["toolset-not-one main.worker:2:13 error"],
    says: [
      "the export `w` does not make a toolset: its tools are gated already: export them without `createToolGate`, and the policy of the run decides",
    ],
  },
  "throw in factory": {
    files: withTools('export function w() {\n  throw new Error("boom");\n}\n'),
    reports: ["toolset-not-one tools.ts:2:9 error"],
    says: ["the export `w` does not make a toolset: boom"],
  },
  "description misspelt": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ descripton: "x", input: { type: "object" }, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `tool.descripton` is no option; did you mean `description`?"],
  },
  sideEffects: {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ sideEffects: false, input: { type: "object" }, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `tool.sideEffects` is no option; did you mean `sideEffect`?"],
  },
  "sideEffect text": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ sideEffect: "no", input: { type: "object" }, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `tool.sideEffect` must be `true` or `false`"],
  },
  "execute for run": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ input: { type: "object" }, execute: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `tool.execute` is no option; the function is called `run`"],
  },
  inputSchema: {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ inputSchema: { type: "object" }, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `tool.inputSchema` is no option; the schema is called `input`"],
  },
  "calls text": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ calls: "other", input: { type: "object" }, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `tool.calls` must be a list"],
  },
  "toolset approval": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", approval: "ask", tools: () => [] });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: [
      "`tools.ts` does not load: `toolset.approval` is no option; write `needsApproval`, a function that returns a verdict for each call",
    ],
  },
  "toolset without name": {
    files: withTools('import { tool, toolset } from "llm-do";\nexport const w = toolset({ tools: () => [] });\n'),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `toolset.name` is missing; it must be a text"],
  },
  "toolset tools list": {
    files: withTools('import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", tools: [] });\n'),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `toolset.tools` must be a function"],
  },
  "toolset lifetime": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", tools: () => [], lifetime: "runs" });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: `toolset.lifetime` must be `run` or `call`; did you mean `run`?"],
  },
  "toolset without tools": {
    files: withTools('import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w" });\n'),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tools.ts` does not load: the toolset `w` has neither `tools` nor `connect`"],
  },
  "toolset of objects": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", tools: () => [{ name: "x" }] });\n',
    ),
    reports: ["toolset-config tools.ts:2:14 error"],
    says: ["`w` cannot list its tools: `tools` has to return a list of what `tool({ … })` makes"],
  },
  "misspelt export": {
    files: {
      "main.worker": "---\ntoolsets: { grete: {} }\n---\nYou help.\n",
      "tools.ts": 'import { tool } from "llm-do";\nexport const greet = tool({ input: { type: "object" }, run: () => 1 });\n',
    },
    reports: ["unknown-toolset main.worker:2:13 error"],
    says: ["did you mean `greet`?"],
  },
  "fields without z.object": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nimport { z } from "zod";\nexport const w = tool({ input: { a: z.string() }, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:3:18 error"],
    says: ["`tool.input` must be a schema: `z.object({ a: z.string() })`"],
  },
  "input of a text": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ input: { type: "string" }, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tool.input` must describe an object of named arguments"],
  },
  "type misspelt": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ input: { type: "object", properties: { a: { type: "sting" } } }, run: () => 1 });\n',
    ),
    reports: ["schema-not-one tools.ts:2:14 error"],
    says: ["the input of `w` is no JSON Schema: `properties/a/type` must be equal to one of the allowed values"],
  },
  "run as text": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ input: { type: "object" }, run: "x" });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tool.run` must be a function"],
  },
  "approval as flag": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ input: { type: "object" }, approval: false, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tool.approval` must be `pre-approved` or `ask`"],
  },
  "output schema": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = tool({ input: { type: "object" }, output: 3, run: () => 1 });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`tool.output` is no option; the options: "],
  },
  "default export": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport default tool({ input: { type: "object" }, run: () => 1 });\n',
    ),
    reports: ["unknown-toolset main.worker:2:13 error"],
    says: ["`tools.ts` has a default export, which has no name: write `export const w = …`"],
  },
  "not exported": {
    files: withTools('import { tool, toolset } from "llm-do";\nconst w = tool({ input: { type: "object" }, run: () => 1 });\n'),
    reports: ["unknown-toolset main.worker:2:13 error"],
    says: ["`tools.ts` has `w`, and does not export it: write `export` before it"],
  },
  "tool.ts": {
    files: { "main.worker": "---\ntoolsets: { w: {} }\n---\nYou help.\n", "tool.ts": "export const w = 1;\n" },
    reports: ["unknown-toolset main.worker:2:13 error"],
    says: ["rename it to `tools.ts`"],
  },
  "class without the contract": {
    files: withTools('import { tool, toolset } from "llm-do";\nexport class w { list() { return [] } }\n'),
    reports: ["toolset-not-one main.worker:2:13 error"],
    says: ["it is exported here", "write `export const w = tool({ input: …, run: … })`"],
  },
  "calls misspelt": {
    files: {
      "main.worker": "---\ntoolsets: { w: {} }\n---\nYou help.\n",
      "tools.ts":
        'import { tool, toolset } from "llm-do";\nexport const w = tool({ calls: ["helpr"], replayable: true, input: { type: "object" }, run: () => 1 });\n',
      "helper.worker": "---\ndescription: x\n---\nYou help.\n",
    },
    reports: ["unknown-call tools.ts:2:14 error"],
    says: ["did you mean `helper`?"],
  },
  "tools throws": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", tools: () => { throw new Error("boom"); } });\n',
    ),
    reports: ["toolset-config tools.ts:2:60 error"],
    says: ["`w` cannot list its tools: boom"],
  },
  "tools as promise": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", tools: async () => [] });\n',
    ),
    reports: ["toolset-config tools.ts:2:14 error"],
    says: ["`tools` has to return a list of what `tool({ … })` makes"],
  },
  "tool without name": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", tools: () => [tool({ input: { type: "object" }, run: () => 1 })] });\n',
    ),
    reports: ["tool-name tools.ts:2:14 error"],
    says: ["a tool of `w` has no name", 'write `tool({ name: "…", … })`'],
  },
  "name with a blank": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", tools: () => [tool({ name: "a b", input: { type: "object" }, run: () => 1 })] });\n',
    ),
    reports: ["tool-name main.worker:2:13 error"],
    says: ["`a b` is no name for a tool"],
  },
  "two tools of a name": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nconst a = tool({ name: "a", input: { type: "object" }, run: () => 1 });\nexport const w = toolset({ name: "w", tools: () => [a, a] });\n',
    ),
    reports: ["tool-name-conflict tools.ts:3:14 error"],
    says: ["`w` has two tools `a`"],
  },
  "requires misspelt": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", requires: ["scope"], tools: () => [] });\n',
    ),
    reports: ["toolset-requirement main.worker:2:13 error"],
    says: ["`w` needs `scope`, which nothing is"],
  },
  "network not enabled": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", requires: ["network"], tools: () => [] });\n',
    ),
    reports: ["toolset-requirement main.worker:2:13 error"],
    says: ["write `sandbox: { network_enabled: true }`"],
  },
  "needsApproval as text": {
    files: withTools(
      'import { tool, toolset } from "llm-do";\nexport const w = toolset({ name: "w", needsApproval: "ask", tools: () => [] });\n',
    ),
    reports: ["code-failed tools.ts:2:18 error"],
    says: ["`toolset.needsApproval` must be a function"],
  },
  "configuration of a tool": {
    files: {
      "main.worker": "---\ntoolsets: { w: { root: x } }\n---\nYou help.\n",
      "tools.ts":
        'import { tool, toolset } from "llm-do";\nexport const w = tool({ input: { type: "object" }, run: () => 1 });\n',
    },
    reports: ["toolset-config main.worker:2:18 error"],
    says: ["`w` takes no configuration, so `root` means nothing here"],
  },
};
