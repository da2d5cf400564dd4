import type { Mistakes } from "./mistake.ts";

export const inSettings: Mistakes = {
  max_tokens: {
    files: { "main.worker": "---\nmodel_settings: { max_tokens: 100 }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:19 error"],
    says: ["did you mean `max_output_tokens: …`?"],
  },
  temperature: {
    files: { "main.worker": "---\ntemperature: 0.2\nmax_tokens: 100\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:1 error", "unknown-key main.worker:3:1 error"],
    says: ["did you mean `model_settings: { temperature: … }`?", "did you mean `model_settings: { max_output_tokens: … }`?"],
  },
  requred: {
    files: {
      "main.worker":
        "---\ninput: { type: object, properties: { a: { type: string } }, requred: [a], additionalproperties: false }\n---\nYou help.\n",
    },
    reports: ["schema-keyword main.worker:2:61 error", "schema-keyword main.worker:2:75 error"],
    says: ["did you mean `required`?", "did you mean `additionalProperties`?"],
  },
  "title first": {
    files: { "main.worker": "# Title\n---\nmodel: x:y\n---\nHi\n" },
    model: null,
    reports: ["frontmatter-not-first main.worker:1:1 error"],
    says: ["move what stands above it below the closing `---`"],
  },
  TOML: {
    files: { "main.worker": "+++\nmodel = 'x'\n+++\nHi\n" },
    reports: ["frontmatter-fence main.worker:1:1 error"],
    says: ["write `---` in place of `+++`, and `key: value` in place of `key = value`"],
  },
  typographic: {
    files: { "main.worker": "---\ndescription: “hello: there”\n---\nYou help.\n" },
    reports: ["yaml-colon main.worker:2:14 error"],
    says: ['put the whole value in quotes: `"hello: there"`'],
  },
  "93b": {
    files: { "main.worker": "---\nmodel: “anthropic:claude”\n---\nYou help.\n" },
    model: null,
    reports: ["model-unset main.worker:1:1 hint", "invalid-value main.worker:2:8 error"],
    says: [
      "set one of: `model` in the worker, `--model` (in code: the option `model`), `model` in llm-do.yaml, `LLM_DO_MODEL`",
      'write `"anthropic:claude"`',
    ],
  },
  "empty body": {
    files: { "main.worker": "---\ndescription: x\n---\n\n" },
    reports: ["instructions-missing main.worker:3:1 warning"],
    says: ["write what it is to do below this line"],
  },
  provider_options: {
    files: { "main.worker": "---\nmodel_settings: { provider_options: { antropic: { x: 1 } } }\n---\nYou help.\n" },
    reports: ["provider-option main.worker:2:39 error"],
    says: ["did you mean `anthropic`?"],
  },
  latin1: {
    files: { "main.worker": Buffer.from("---\ndescription: café\n---\nYou help.\n", "latin1") },
    reports: ["file-encoding main.worker:2:17 error"],
    says: ["save the file as UTF-8"],
  },
  "latin1 fragment": {
    files: { "main.worker": "---\nfragments: [a.md]\n---\nYou help.\n", "a.md": Buffer.from("café", "latin1") },
    reports: ["file-encoding a.md:1:4 error"],
    says: ["save the file as UTF-8"],
  },
  "unknown key": {
    files: { "main.worker": "---\ntoolset: { filesystem: {} }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:1 error"],
    says: ["did you mean `toolsets`?"],
  },
  "limit text": {
    files: { "main.worker": "---\nlimits: { turns: ten }\n---\nYou help.\n" },
    reports: ["wrong-type main.worker:2:18 error"],
    says: ["`limits.turns` has to be a whole number from 1 on, not the text `ten`"],
  },
  "limit misspelt": {
    files: { "main.worker": "---\nlimits: { turn: 10 }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:11 error"],
    says: ["did you mean `turns`?"],
  },
  "turns at the top": {
    files: { "main.worker": "---\nmax_turns: 10\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:1 error"],
    says: ["did you mean `limits: { turns: … }`?"],
  },
  "fragment misspelt": {
    files: { "main.worker": "---\nfragments: [rubrik.md]\n---\nYou help.\n", "rubric.md": "x" },
    reports: ["reference-missing main.worker:2:13 error"],
    says: ["did you mean `rubric.md`?"],
  },
  "no provider": {
    files: { "main.worker": "---\nmodel: claude-sonnet-4-5\n---\nYou help.\n" },
    model: null,
    reports: ["model-id main.worker:2:8 error"],
    says: ['"claude-sonnet-4-5" has no provider. Did you mean "anthropic:claude-sonnet-4-5"?'],
  },
  "provider misspelt": {
    files: { "main.worker": "---\nmodel: antropic:claude-sonnet-4-5\n---\nYou help.\n" },
    model: null,
    reports: ["model-id main.worker:2:8 error"],
    says: ['"antropic" in "antropic:claude-sonnet-4-5" is no known provider. Did you mean "anthropic"?'],
  },
  tab: {
    files: { "main.worker": "---\nlimits:\n\tturns: 3\n---\nYou help.\n" },
    reports: ["yaml-tab main.worker:3:1 error"],
    says: ["indent with spaces"],
  },
  "fence unclosed": {
    files: { "main.worker": "---\ndescription: x\nYou help.\n" },
    reports: ["frontmatter-unclosed main.worker:1:1 error"],
    says: ["write a second line `---` between the settings and the instructions"],
  },
  "name unlike file": {
    files: { "main.worker": "---\nname: other\n---\nYou help.\n" },
    reports: ["name-mismatch main.worker:2:7 error"],
    says: ["write `name: main`, or leave the key out"],
  },
  "model misspelt": {
    files: { "main.worker": "---\nmodel: anthropic:claude-sonet-4-5\n---\nYou help.\n" },
    model: null,
    reports: ["model-unlisted main.worker:2:8 hint"],
    says: ["did you mean `anthropic:claude-sonnet-4-5`?"],
  },
  "model newer than the list": {
    files: { "main.worker": "---\nmodel: anthropic:claude-sonnet-9-9\n---\nYou help.\n" },
    model: null,
    reports: [],
    says: [],
  },
  "model with a slash": {
    files: { "main.worker": "---\nmodel: anthropic/claude-sonnet-4-5\n---\nYou help.\n" },
    model: null,
    reports: [],
    says: [],
  },
  "script misspelt": {
    files: { "main.worker": "---\nmodel: scripted:scipt.yaml\n---\nYou help.\n", "script.yaml": "- reply: done\n" },
    model: null,
    reports: ["reference-missing main.worker:2:8 error"],
    says: ["there is no script `scipt.yaml`", "did you mean `script.yaml`?"],
  },
  "script as text": {
    files: { "main.worker": "---\nmodel: scripted:script.txt\n---\nYou help.\n", "script.txt": "x" },
    model: null,
    reports: ["script-invalid main.worker:2:8 error"],
    says: ["a script is a .ts, .js, .mjs, .yaml, .yml or .json file"],
  },
  "worker of a script misspelt": {
    files: {
      "main.worker": "---\nmodel: scripted:script.yaml\n---\nYou help.\n",
      "script.yaml": "workers:\n  '*': [{ reply: done }]\n  mian: [{ reply: done }]\n",
    },
    model: null,
    reports: ["script-worker-unknown main.worker:2:8 warning"],
    says: ["script.yaml:3: no worker is called `mian`", "did you mean `main`?"],
  },
  "script of another form": {
    files: { "main.worker": "---\nmodel: scripted:script.yaml\n---\nYou help.\n", "script.yaml": "- calls: []\n" },
    model: null,
    reports: ["script-invalid script.yaml:1:3 error"],
    says: ["script.yaml:1: [0].calls: `calls` is no key here; the keys are `expect`, `reply`"],
  },
  "model_settings at the top": {
    files: { "main.worker": "---\ntop_p: 0.3\nseed: 3\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:1 error", "unknown-key main.worker:3:1 error"],
    says: ["did you mean `model_settings: { top_p: … }`?", "did you mean `model_settings: { seed: … }`?"],
  },
  "attachment policy at the top": {
    files: { "main.worker": "---\nmax_attachments: 3\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:1 error"],
    says: ["did you mean `attachment_policy: { max_attachments: … }`?"],
  },
  "reasoning misspelt": {
    files: { "main.worker": "---\nmodel_settings: { reasoning: hgh }\n---\nYou help.\n" },
    reports: ["invalid-value main.worker:2:30 error"],
    says: ["did you mean `high`?"],
  },
  "temperature as text": {
    files: { "main.worker": "---\nmodel_settings: { temperature: hot }\n---\nYou help.\n" },
    reports: ["wrong-type main.worker:2:32 error"],
    says: ["`model_settings.temperature` has to be a number from 0, not the text `hot`"],
  },
  "compatible_models as text": {
    files: { "main.worker": "---\ncompatible_models: anthropic:*\n---\nYou help.\n" },
    reports: ["wrong-type main.worker:2:20 error"],
    says: ['write `["anthropic:*"]`'],
  },
  "star without quotes": {
    files: { "main.worker": "---\ncompatible_models: [*]\n---\nYou help.\n" },
    reports: ["yaml-alias main.worker:2:21 error"],
    says: ['if it is a glob, put it in quotes: `"*"`'],
  },
  "colon in a description": {
    files: { "main.worker": "---\ndescription: a: b\n---\nYou help.\n" },
    reports: ["yaml-colon main.worker:2:14 error"],
    says: ['put the whole value in quotes: `"a: b"`'],
  },
  "at sign at the start": {
    files: { "main.worker": "---\ndescription: @x\n---\nYou help.\n" },
    reports: ["yaml-syntax main.worker:2:14 error"],
    says: ["put the whole value in quotes"],
  },
  "description as list": {
    files: { "main.worker": "---\ndescription: [x]\n---\nYou help.\n" },
    reports: ["wrong-type main.worker:2:14 error"],
    says: ["`description` has to be a text, not a list"],
  },
  "key twice": {
    files: { "main.worker": "---\ndescription: x\ndescription: y\n---\nYou help.\n" },
    reports: ["duplicate-key main.worker:3:1 error"],
    says: ["the first one is here"],
  },
  "indented wrongly": {
    files: { "main.worker": "---\nlimits:\n  turns: 3\n tokens: 4\n---\nYou help.\n" },
    reports: ["yaml-syntax main.worker:4:1 error"],
    says: ["every line at this level is `key: value`"],
  },
  "no frontmatter": {
    files: { "main.worker": "You help.\n" },
    reports: ["frontmatter-missing main.worker:1:1 error"],
    says: ["the smallest worker file is:"],
  },
  "empty file": {
    files: { "main.worker": "" },
    reports: ["frontmatter-missing main.worker:1:1 error"],
    says: ["the file is empty"],
  },
  "second fence": {
    files: { "main.worker": "---\ndescription: x\n---\nHi\n\n---\n\nMore.\n" },
    reports: [],
    says: [],
  },
  "suffix without a dot": {
    files: { "main.worker": "---\nattachment_policy: { allowed_suffixes: [pdf] }\n---\nYou help.\n" },
    reports: ["invalid-suffix main.worker:2:41 error"],
    says: ["write `.pdf`"],
  },
  "attachment policy misspelt": {
    files: { "main.worker": "---\nattachment_policy: { max_attachment: 3 }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:22 error"],
    says: ["did you mean `max_attachments`?"],
  },
  "media type without a slash": {
    files: { "main.worker": "---\nattachment_policy: { media_types: [image] }\n---\nYou help.\n" },
    reports: ["invalid-value main.worker:2:36 error"],
    says: ["one is `application/pdf` or `image/*`"],
  },
};
