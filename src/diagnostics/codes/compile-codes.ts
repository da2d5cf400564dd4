import type { CatalogueEntry } from "../catalogue-entry.ts";

/** Mistakes of a program whose files can each be read: reported by resolve, check and plan. */
export const compileCodes = {
  "target-not-found": {
    severity: "error",
    title: "There is no such program",
    explanation:
      "A target is a folder that holds a `main.worker`, or a `.worker` file. Paths are relative to the working directory. Check the spelling, or pass the entry's file.",
  },
  "file-unreadable": {
    severity: "error",
    title: "A file of the program cannot be read",
    explanation:
      "The system refused to read it, or it is nothing that a program is made of. Its rights, or a broken link, are the usual cause; the message says what the system said. Pipes, sockets and devices are never read. A worker file or a manifest has at most 1,000,000 bytes, a `package.json` too, any other file of a program 10,000,000.",
  },
  "file-encoding": {
    severity: "error",
    title: "A file that is not UTF-8",
    explanation:
      "Files of a program are UTF-8. In another encoding, characters beyond ASCII would reach the model as something else. Save the file as UTF-8: `iconv -f latin1 -t utf8 old > new`, or your editor's menu for encodings.",
  },
  "manifest-name": {
    severity: "error",
    title: "A file under another name",
    explanation:
      "A program's manifest is `llm-do.yaml`, your own configuration `config.yaml`, and a test file ends in `.test.yaml`, each spelt exactly so. A file with nearly this name is not read, and neither are the policy, the limits or the tests in it. Rename it.",
  },
  "file-ignored": {
    severity: "hint",
    title: "A file that nothing reads",
    explanation:
      "The name is one that older programs used. Nothing of the file is read. If it belongs to another tool, leave it; otherwise move what it says, as the note shows.",
  },
  "model-unused": {
    severity: "warning",
    withoutEffect: true,
    title: "A model for workers that have their own",
    explanation:
      "`--model` (or `model` of the library) is for workers that name no model. Each worker of this program has one, by its file, `--set` or `--model-for`, so that the flag does nothing. To change the model of such a worker, use `--model-for`.",
  },
  "model-unlisted": {
    severity: "hint",
    title: "A model that is probably misspelt",
    explanation:
      "llm-do comes with a list of models and their published prices. This name is not in it, and one that differs by a letter or two is. Correct it. If the model is newer than the list, nothing is wrong.",
  },
  "script-invalid": {
    severity: "error",
    title: "A script that cannot play a model",
    explanation:
      "`scripted:FILE` lets a file play the model. A script in YAML or JSON holds the replies of each worker, in the form that `docs/scripts.md` shows; one in TypeScript or JavaScript exports a function. The message says which line is wrong.",
  },
  "script-worker-unknown": {
    severity: "warning",
    withoutEffect: true,
    title: "Turns for a worker that is not there",
    explanation:
      "A script in YAML or JSON holds the turns of each worker under the worker's name. No worker of the program has this name, and one without turns has a similar one: its requests are answered by the turns of `*`, or fail the run. Correct the name.",
  },
  "instructions-missing": {
    severity: "warning",
    title: "A worker without instructions",
    explanation:
      "The text below the closing `---` is what the worker is told to do. This one has none, and neither a `prompt` nor `system_fragments`. Write the instructions there.",
  },
  "manifest-entry-unused": {
    severity: "hint",
    title: "An entry of the manifest that nothing uses",
    explanation:
      "No worker that the entry reaches uses this profile, toolset, MCP server or provider, so it does nothing in this program. Check the spelling of its name, or name it in a worker: `extends` for a profile, a key under `toolsets` for a toolset, `servers` of `mcp` for a server, `model` for a provider.",
  },
  "scopes-unused": {
    severity: "warning",
    withoutEffect: true,
    title: "Folders that no tool of the worker reaches",
    explanation:
      "`sandbox.paths` says which folders the worker's tools can reach, and gives it no tool. This worker has no toolset that uses them, so its model can neither read nor write a file. Write `filesystem: {}` under `toolsets`, or delete the folders.",
  },
  "attachment-type": {
    severity: "hint",
    title: "A field named like an attachment that takes no file",
    explanation:
      "Files are passed in a field of the type `attachment`, or in a list of them. This field is named so and has another type, so that `--attachment` and a caller's files find no place. Write `attachments(array): attachment`. If it holds paths as texts on purpose, nothing is wrong.",
  },
  "instructions-tool": {
    severity: "hint",
    title: "A tool in the instructions that the worker does not have",
    explanation:
      "The instructions name a tool in backticks, and the worker has none of this name, so the model would be told to do what it cannot. Check the spelling, or name the tool's toolset, or the worker, under `toolsets`. If it is no tool, nothing is wrong.",
  },
  "manifest-args": {
    severity: "error",
    title: "Arguments of the manifest that the entry does not take",
    explanation:
      "`args` of `llm-do.yaml` is the entry's input where a run is given none. It has to fit the `input` of the entry, field by field. The message says which field is wrong.",
  },
  "unknown-toolset": {
    severity: "error",
    title: "A toolset that nothing is named after",
    explanation:
      "A key under `toolsets` is a built-in toolset, the name of a worker of the program, or a tool or toolset exported by its `tools.ts`. None of them has this name. Check the spelling, or add the file or the export.",
  },
  "unknown-mcp-server": {
    severity: "error",
    title: "An MCP server that the manifest does not have",
    explanation:
      "`mcp: { servers: [gh] }` names servers of `mcp_servers` in the program's `llm-do.yaml`. This one is not among them. A worker of a package cannot name the program's servers: it says itself how they are started, as `servers: { gh: { command: gh-mcp } }`.",
  },
  "ambiguous-toolset": {
    severity: "error",
    title: "A toolset name that means several things",
    explanation:
      "Nothing shadows anything: where a name could mean a built-in, a worker or an export, all of them are listed and none is taken. Rename one of them. A tool that a worker of its name has as its `code` is no meaning of its own: the name means the worker.",
  },
  "toolset-config": {
    severity: "error",
    title: "A configuration that the toolset does not take",
    explanation:
      "The map under a toolset's reference is checked against the toolset's own schema before anything runs. The message says which key, and what is allowed.",
  },
  "toolset-warning": {
    severity: "warning",
    withoutEffect: true,
    title: "A configuration that cannot be what was meant",
    explanation:
      "The toolset takes this configuration, and says that a part of it does nothing, or blocks everything: a rule that an earlier one shadows, a pattern that nothing matches. The message says which part, and why.",
  },
  "toolset-hint": {
    severity: "hint",
    title: "A configuration that may do less than was meant",
    explanation:
      "The toolset takes this configuration, and it does what it says. A rule of the shell without `writes` allows looking alone: its commands change nothing. The message has the key to add, and the one that says that this is meant.",
  },
  "toolset-not-one": {
    severity: "error",
    title: "An export that is neither a tool nor a toolset",
    explanation:
      "What `toolsets` refers to in `tools.ts` is made by `tool({ … })` or `toolset({ … })`. A bare function has no schema, so no model can be told how to call it.",
  },
  "provider-option": {
    severity: "error",
    title: "An option of a provider that cannot be set",
    explanation:
      "`provider_options` maps a provider to options that only it has. Each provider has a list of the options that can be set. None of them turns on a tool, storage, another model or another address: those have keys of their own (`server_side_tools`, `toolsets`, `model`, `providers` of `llm-do.yaml`), which the approval policy and the question of trust know. Write the option under its provider's name, as the message says.",
  },
  "server-tool-unsupported": {
    severity: "error",
    title: "A server-side tool that the model cannot have",
    explanation:
      "Server-side tools are executed by the model's provider, so they are there only where the provider has them, and bounded only by what it keeps to. The message says which provider lacks what. Choose another model, or delete the tool or the bound; a tool of `tools.ts` runs with every model.",
  },
  "server-tool-twice": {
    severity: "error",
    title: "A server-side tool that is enabled twice",
    explanation:
      "A worker enables a tool of its provider once, with one set of bounds. Two entries of one `tool_type` could say different things. Keep one of them.",
  },
  "approval-unknown-tool": {
    severity: "error",
    title: "An approval for a tool that does not exist",
    explanation:
      "The keys of `_approval_config` are the toolset's tools, without a prefix, or `*` for all of them. An entry that matches nothing would look like a grant and be none.",
  },
  "approval-rule": {
    severity: "error",
    title: "A rule for calls that cannot be read",
    explanation:
      "A rule is written as `tool`, `worker/tool` or `worker/tool(pattern)`. The worker and the tool are globs of names; a pattern is a glob of the tool's first argument, or `name=glob` for any other, with commas between several.",
  },
  "approval-rule-unused": {
    severity: "warning",
    withoutEffect: true,
    title: "A rule for calls that no call can match",
    explanation:
      "The rule names a worker, a tool or an argument that the program does not have, so it neither allows nor forbids anything. Check the spelling: tools go by the name that a model calls them by, with their `_prefix`.",
  },
  "approval-without-effect": {
    severity: "warning",
    withoutEffect: true,
    title: "A pre-approval that lifts no question",
    explanation:
      "`pre_approved: true` lifts the general caution of a toolset, and never a rule that an author wrote: `write_approval: true` or `read_approval: true` of a scope, `approval_required: true` of a shell's rule. Here such a rule asks for every call. Change the rule, or delete the pre-approval.",
  },
  "variable-literal": {
    severity: "warning",
    withoutEffect: true,
    title: "A variable where none is filled in",
    explanation:
      "`${NAME}` stands for a variable of the environment in the configuration of toolsets that the program's code defines, and in the manifest's `providers`. The configuration of a built-in toolset is shown to models and to people, so that it takes the text as it is written.",
  },
  "variable-missing": {
    severity: "error",
    title: "A variable that is not set",
    explanation:
      "`${NAME}` in the configuration of a toolset that code defines, or in a provider of the manifest, stands for a variable of the environment, and this one is not set, or empty. Set it before you run the program. For the text itself, write `$${NAME}`.",
  },
  "variable-unset": {
    severity: "hint",
    title: "A variable that is not set yet",
    explanation:
      "`${NAME}` in the configuration of a toolset that code defines, or in a provider of the manifest, stands for a variable of the environment. The program is fine, and needs this one to run. For the text itself, write `$${NAME}`.",
  },
  "tool-name-conflict": {
    severity: "error",
    title: "Two tools of one worker with the same name",
    explanation:
      "A model calls tools by name, so every name that a worker offers is unique. Give one of the toolsets a `_prefix`. `read_result` is a tool of llm-do itself, which reads on where a result was cut.",
  },
  "tool-name": {
    severity: "error",
    title: "A tool name that no provider accepts",
    explanation:
      "Providers take tool names of a letter followed by up to 63 letters, digits, `_` and `-`. Rename the export, or shorten the prefix.",
  },
  "name-mismatch": {
    severity: "error",
    title: "A worker named unlike its file",
    explanation:
      "A worker is found by the name of its file (or, for `x/worker.worker`, of its folder), so a `name` that differs would never be found. Rename one of the two, or leave the key out.",
  },
  "worker-name": {
    severity: "error",
    title: "A file name that is no worker name",
    explanation:
      "A worker is called by its name as a tool, so its file is named like one: a letter, then up to 63 letters, digits, `_` and `-`. Rename the file.",
  },
  "description-missing": {
    severity: "warning",
    title: "A worker that is called without a description",
    explanation:
      "The description is what a caller knows of a worker. Without one the first sentence of its instructions stands in. Add `description`.",
  },
  "model-incompatible": {
    severity: "error",
    title: "A model that the worker does not run on",
    explanation:
      "`compatible_models` lists what a worker runs on, and its model is none of them. Choose a model that matches one of the patterns, or widen the list.",
  },
  "model-id": {
    severity: "error",
    title: "Not the id of a model",
    explanation:
      "A model is named `provider:name`, for example `anthropic:claude-sonnet-4-5`. The provider says which service to speak to, so it is never left out.",
  },
  "provider-taken": {
    severity: "error",
    title: "A provider under the name of another one",
    explanation:
      "Nothing shadows anything: a provider of `llm-do.yaml` cannot have the name of one that comes with llm-do, or that whoever runs the program brings. Give it another name.",
  },
  "provider-key": {
    severity: "error",
    title: "A provider's key for another address",
    explanation:
      "The key of a provider that comes with llm-do goes to that provider's own address only, so that no program can have it sent elsewhere. Put the key for this address into a variable of its own.",
  },
  "model-missing": {
    severity: "error",
    title: "No model for a worker",
    explanation:
      "A worker's model is the first of: its own `model`, `--model` (or the library's `model`), the manifest's `model`, `LLM_DO_MODEL`, your default (`llm-do models default`). None of them is set. A caller's model is not inherited.",
  },
  "model-unset": {
    severity: "hint",
    title: "No model yet",
    explanation:
      "The program is fine, and needs a model to run: `--model`, or `LLM_DO_MODEL`, or a `model` of its own, or your default (`llm-do models default`).",
  },
  "scope-root-missing": {
    severity: "error",
    title: "A scope without its folder",
    explanation:
      "The root of a read-only scope must be there before a run; only the root of an `rw` scope is made. Roots are relative to the file that declares them.",
  },
  "scope-root-not-folder": {
    severity: "error",
    title: "A scope whose root is not a folder",
    explanation: "A scope is a folder with everything below it. To offer one file, give its folder, and limit `suffixes`.",
  },
  "scopes-required": {
    severity: "error",
    title: "A toolset that needs a scope, in a worker without one",
    explanation:
      "`sandbox: { paths: {} }` takes every scope away. Declare one, or leave `sandbox` out: then the program's folder is the scope.",
  },
  "schema-invalid": {
    severity: "error",
    title: "A schema that cannot be used",
    explanation:
      "The JSON Schema under `input` or `output` cannot be compiled. `input` must describe an object, because workers are called with one.",
  },
  "schema-not-one": {
    severity: "error",
    title: "A reference to something that is no schema",
    explanation:
      "`./schemas.ts:Pitch` refers to an export that is a Standard Schema (of zod, valibot, arktype and others) which can say its JSON Schema, or to JSON Schema as data: a model has to be told what fits. The message says what is missing.",
  },
  "reference-outside": {
    severity: "error",
    title: "A reference that leaves the program",
    explanation:
      "Files of a program refer to other files of the same program, relative to themselves. Absolute paths, `..` beyond the program's folder and links that lead out of it are refused, so that a program can be moved, reviewed and trusted as one folder. Only the command line may point elsewhere.",
  },
  "template-ambiguous": {
    severity: "error",
    title: "A rendered file that is in two places",
    explanation:
      "`{% render \"rubric.md\" %}` is a file of the worker's folder, or of the program's `templates/`. Here it is in both, and nothing shadows anything. Rename or remove one of them.",
  },
  "reference-missing": {
    severity: "error",
    title: "A reference to a file that is not there",
    explanation: "Paths are relative to the file that they are written in. Check the spelling, or add the file.",
  },
  "toolset-requirement": {
    severity: "error",
    title: "A toolset in a worker that lacks what it needs",
    explanation:
      "The toolset says what it cannot work without: the network for programs that its tools start (`sandbox: { network_enabled: true }`), or a `tools.ts` of the program. The message says what is missing.",
  },
  "not-verified-unconnected": {
    severity: "hint",
    title: "A tool that is known only when its toolset connects",
    explanation:
      "The toolset asks a server, or something like it, for its tools, and nothing is connected before a run. What is said of such a tool holds if the tool is there; a name that is not there is a warning of the run.",
  },
  "key-unsupported": {
    severity: "error",
    title: "A key that nothing honours yet",
    explanation:
      "The key is part of the format, and this version of llm-do does not act on it. It is refused because ignoring it would let you rely on something that does not happen. Take it out.",
  },
  "generated-refused": {
    severity: "error",
    title: "More than a worker made in a run may say",
    explanation:
      "The files in the folder of generated workers were written by a model. They are literal text and data: no `fragments`, no `extends`, no schemas of code, nor with a `pattern` or a `$ref`, whose check could take forever; and no other worker extends them. To give such a worker more, look at it, and move its file out of the folder: from then on it is yours.",
  },
  "generated-capability": {
    severity: "warning",
    withoutEffect: true,
    title: "A worker made in a run, without a record of what it may do",
    explanation:
      "What a worker may do that was made in a run stands in a record which the user keeps, not in its file: the file could have been written by anybody. Without that record it has no model of its own, no tools, no scopes, no attachments and no tools of the provider. To give it what its file says, look at it, and move the file out of the folder of generated workers.",
  },
  "manifest-not-map": {
    severity: "error",
    title: "A manifest that is not a map",
    explanation: "`llm-do.yaml` is a map from keys to values, one to a line: `model: anthropic:claude-sonnet-4-5`.",
  },
  "extends-unknown": {
    severity: "error",
    title: "Extends what is not there",
    explanation:
      "`extends` is the path of a worker file, with a slash or the suffix `.worker`, or the name of a profile of `llm-do.yaml`. There is none of this name.",
  },
  "extends-cycle": {
    severity: "error",
    title: "Workers that extend one another in a circle",
    explanation: "A file's settings begin with those of the file that it extends, so following `extends` has to come to an end.",
  },
  "override-syntax": {
    severity: "error",
    title: "An override that cannot be read",
    explanation:
      '`--set` takes `key=value` or `worker.key=value`. Dots separate keys; a key with dots in it is written `["literal"]`. `--model-for` takes `pattern=provider:name`.',
  },
  "override-target": {
    severity: "error",
    title: "An override of what is not there",
    explanation:
      "The first part of `--set` is a key of the entry, or the name or id of a worker that the entry reaches; the pattern of `--model-for` has to match one. `--scope` takes the name of a scope that one of them declares. Nothing would have been overridden.",
  },
  "override-path": {
    severity: "error",
    title: "An override inside what is not a map",
    explanation: "All but the last part of an override's key name maps. To replace the whole value, end the key earlier.",
  },
  "name-not-portable": {
    severity: "warning",
    title: "A name that does not work on every system",
    explanation:
      "Windows reserves some file names, and the file systems of Windows and macOS take names that differ in case alone for one. Rename the file, so that the program can be checked out everywhere.",
  },
  "entry-not-found": {
    severity: "error",
    title: "There is no such entry",
    explanation: "`--entry` names a worker of the program, or an exported function as `tools.ts:main`.",
  },
} as const satisfies Record<string, CatalogueEntry>;
