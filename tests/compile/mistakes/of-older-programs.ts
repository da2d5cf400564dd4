import type { Mistakes } from "./mistake.ts";

export const ofOlderPrograms: Mistakes = {
  delegation: {
    files: {
      "main.worker": "---\ntoolsets: { delegaton: { allow_workers: [helper] } }\n---\nYou help.\n",
      "helper.worker": "---\ndescription: x\n---\nYou help.\n",
    },
    reports: ["unknown-toolset main.worker:2:13 error"],
    says: ["did you mean `delegation`?"],
  },
  "the Python class of delegation": {
    files: { "main.worker": "---\ntoolsets: { llm_do.toolsets.delegation.DelegationToolset: {} }\n---\nYou help.\n" },
    reports: ["python-reference main.worker:2:13 error"],
    says: ["write `delegation`"],
  },
  custom: {
    files: { "main.worker": "---\ntoolsets: { custom: {}, sandbox: {}, file_tools: {}, worker_call: {} }\n---\nYou help.\n" },
    reports: [
      "toolset-requirement main.worker:2:13 error",
      "unknown-toolset main.worker:2:25 error",
      "unknown-toolset main.worker:2:38 error",
      "unknown-toolset main.worker:2:54 error",
    ],
    says: [
      "`custom` chooses tools of `tools.ts`, and this program has none",
      "files are reached with `filesystem`; the folders are declared under `sandbox.paths`",
      "files are reached with `filesystem: {}`",
      "workers are called with `delegation: { allow_workers: [worker_name] }`, or by their names: `worker_name: {}`",
    ],
  },
  allow_workers: {
    files: { "main.worker": "---\nallow_workers: [helper]\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["write `toolsets: { delegation: { allow_workers: [helper] } }`"],
  },
  "tools list": {
    files: { "main.worker": "---\ntools: [Files, TemplateCall]\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["write `toolsets: { filesystem: {}, delegation: {} }`"],
  },
  sandboxes: {
    files: {
      "main.worker":
        "---\nsandboxes: { in: { path: ./in, mode: ro, allowed_suffixes: [.txt], max_bytes: 1000 } }\n---\nYou help.\n",
    },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["write `sandbox: { paths: { in: { root: ./in, mode: ro, suffixes: [.txt], max_file_bytes: 1000 } } }`"],
  },
  shell_rules: {
    files: { "main.worker": "---\nshell_rules: [{ pattern: 'git *', approval_required: false }]\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ['write `toolsets: { shell: { rules: [{ pattern: "git *", approval_required: false }] } }`'],
  },
  tool_rules: {
    files: {
      "main.worker": "---\ntool_rules: [{ name: sandbox.write, approval_required: false, allowed: true }]\n---\nYou help.\n",
    },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["write `_approval_config: { write: { pre_approved: true } }` under the toolset that has the tool"],
  },
  options: {
    files: { "main.worker": "---\noptions: { temperature: 0.1 }\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["write `model_settings: { temperature: 0.1 }`"],
  },
  params: {
    files: { "main.worker": "---\nparams: [company]\ndefaults: { company: Acme }\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error", "removed-key main.worker:3:1 error"],
    says: [
      "write `input: { company: string }`, where `?` after a name makes a field optional",
      'write `{{ company | default: "Acme" }}` in the text',
    ],
  },
  "prompt $input": {
    files: { "main.worker": "---\nprompt: Evaluate $input\n---\nYou help.\n" },
    reports: ["template-dollar main.worker:2:18 warning"],
    says: ["write `{{ input }}`"],
  },
  "file()": {
    files: { "main.worker": "---\n\n---\n{{ file('RUBRIC.md') }}\n" },
    reports: ["template-syntax main.worker:4:8 error"],
    says: ['another file is put in by `{% render "file.md" %}`'],
  },
  url_context: {
    files: { "main.worker": "---\nserver_side_tools: [{ tool_type: url_context }]\n---\nYou help.\n" },
    reports: ["invalid-value main.worker:2:34 error"],
    says: ["pages are read by `web_fetch`"],
  },
  output_schema_ref: {
    files: { "main.worker": "---\noutput_schema_ref: PitchReport\n---\nYou help.\n" },
    reports: ["old-spelling main.worker:2:1 hint", "schema-type main.worker:2:20 error"],
    says: ["rename it to `output`", "write `./schemas.ts:PitchReport` for a schema that a file of the program exports"],
  },
  shell_default: {
    files: { "main.worker": "---\nshell_default: { approval_required: true }\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["write `toolsets: { shell: { default: { approval_required: true } } }`"],
  },
  shell_cwd: {
    files: { "main.worker": "---\nshell_cwd: ./src\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["name the folder ./src under `sandbox.paths`: the model chooses one of these folders for each command"],
  },
  system: {
    files: { "main.worker": "---\nsystem: You help.\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["move the text under the closing `---`: the instructions are there"],
  },
  instructions: {
    files: { "main.worker": "---\ninstructions: You help.\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["move the text under the closing `---`: the instructions are there"],
  },
  entry: {
    files: { "main.worker": "---\nentry: true\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["delete it: the entry is `main.worker`, `entry` of `llm-do.yaml`, or `--entry` on the command line"],
  },
  functions: {
    files: { "main.worker": "---\nfunctions: { add: 'return 1' }\n---\nYou help.\n" },
    reports: ["inline-code main.worker:2:1 error"],
    says: ["export each function from `tools.ts` with `tool({ input, run })`, and name it under `toolsets`"],
  },
  "tool_rules map": {
    files: { "main.worker": "---\ntool_rules: { write_file: { approval_required: true } }\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["write `_approval_config: { write_file: { pre_approved: false } }` under the toolset that has the tool"],
  },
  "params map": {
    files: { "main.worker": "---\nparams: { company: { required: true } }\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["write `input: { company: string }`, where `?` after a name makes a field optional"],
  },
  code_interpreter: {
    files: { "main.worker": "---\nserver_side_tools: [{ tool_type: code_interpreter }]\n---\nYou help.\n" },
    reports: ["invalid-value main.worker:2:34 error"],
    says: ["code is run by `code_execution`"],
  },
  ShellToolset: {
    files: { "main.worker": "---\ntoolsets: { llm_do.toolsets.shell.ShellToolset: {} }\n---\nYou help.\n" },
    reports: ["python-reference main.worker:2:13 error"],
    says: ["write `shell`"],
  },
  "own class": {
    files: { "main.worker": "---\ntoolsets: { tools.py:MyToolset: {} }\n---\nYou help.\n" },
    reports: ["python-reference main.worker:2:13 error"],
    says: ["write `./tools.ts:MyToolset` for a file of the program, `package:MyToolset` for an npm package"],
  },
  input_model_ref: {
    files: { "main.worker": "---\ninput_model_ref: schemas.py:Input\n---\nYou help.\n" },
    reports: ["old-spelling main.worker:2:1 hint", "python-reference main.worker:2:18 error"],
    says: ["rename it to `input`", "write `./schemas.ts:Input` for a file of the program, `package:Input` for an npm package"],
  },
  schema_in_ref: {
    files: { "main.worker": "---\nschema_in_ref: schemas.py:PitchInput\n---\nYou help.\n" },
    reports: ["old-spelling main.worker:2:1 hint", "python-reference main.worker:2:16 error"],
    says: ["rename it to `input`", "write `./schemas.ts:PitchInput` for a file of the program"],
  },
  schema_object: {
    files: { "main.worker": "---\nschema_object: { type: object, properties: { a: { type: sting } } }\n---\nYou help.\n" },
    reports: ["old-spelling main.worker:2:1 hint", "schema-type main.worker:2:57 error"],
    says: ["rename it to `output`", "did you mean `string`?"],
  },
  "tool_rules with what is not allowed": {
    files: {
      "main.worker":
        "---\ntool_rules: [{ name: shell, allowed: false }, { name: sandbox.write, approval_required: true }]\n---\nYou help.\n",
    },
    reports: ["removed-key main.worker:2:1 error"],
    says: [
      "write `_approval_config: { write: { pre_approved: false } }` under the toolset that has the tool, and `approval: { rules: [{ effect: block, rule: shell }] }` in `llm-do.yaml`",
    ],
  },
  "sandboxes as text": {
    files: { "main.worker": "---\nsandboxes: ./in\n---\nYou help.\n" },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["write `sandbox: { paths: { files: { root: ./in } } }`"],
  },
  "sandboxes with older words": {
    files: {
      "main.worker":
        "---\nsandboxes: { in: { path: ./in, mode: write, text_suffixes: [.txt], attachment_suffixes: [.pdf] } }\n---\nYou help.\n",
    },
    reports: ["removed-key main.worker:2:1 error"],
    says: ["write `sandbox: { paths: { in: { root: ./in, mode: rw, suffixes: [.txt, .pdf] } } }`"],
  },
  "delegation without workers": {
    files: { "main.worker": "---\ntoolsets: { delegation: {} }\n---\nYou help.\n" },
    reports: ["toolset-warning main.worker:2:13 warning"],
    says: ["`allow_workers` names no worker, so every call is blocked"],
  },
  "delegation to a misspelt worker": {
    files: {
      "main.worker": "---\ntoolsets: { delegation: { allow_workers: [helpr] } }\n---\nYou help.\n",
      "helper.worker": "---\ndescription: x\n---\nYou help.\n",
    },
    reports: ["toolset-config main.worker:2:43 error"],
    says: ["did you mean `helper`?"],
  },
  "instructions with $input": {
    files: { "main.worker": "---\ndescription: x\n---\nEvaluate $input.\n" },
    reports: ["template-dollar main.worker:4:10 warning"],
    says: ["write `{{ input }}`"],
  },
  "database toolset": {
    files: { "main.worker": "---\ntoolsets: { pkg.database.DatabaseToolset: {} }\n---\nYou help.\n" },
    reports: ["python-reference main.worker:2:13 error"],
    says: ["write `./toolsets.ts:DatabaseToolset` for a file of the program"],
  },
  return_permission_errors: {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": "return_permission_errors: false\n" },
    reports: ["unknown-key llm-do.yaml:1:1 error"],
    says: ["unknown key `return_permission_errors`"],
  },
};
