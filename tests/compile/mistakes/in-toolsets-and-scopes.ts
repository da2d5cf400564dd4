import type { Mistakes } from "./mistake.ts";

export const inToolsetsAndScopes: Mistakes = {
  "folder typo": {
    files: { "main.worker": "---\nsandbox: { paths: { notes: { root: ./inptu } } }\n---\nYou help.\n", "input/a": "" },
    reports: ["scope-root-missing main.worker:2:36 error"],
    says: ["did you mean `./input`? Otherwise make the folder, or correct the path; it is relative to the file that says it"],
  },
  "paths list": {
    files: { "main.worker": "---\nsandbox: { paths: [./input] }\n---\nYou help.\n", "input/a": "" },
    reports: ["wrong-type main.worker:2:19 error"],
    says: ["write a name for each folder: `{ input: { root: ./input } }`"],
  },
  cascade: {
    files: {
      "main.worker": "---\nsandbox: { paths: { input: ./input } }\ntoolsets: { filesystem: {} }\n---\nYou help.\n",
      "input/a": "",
    },
    reports: ["wrong-type main.worker:2:28 error"],
    says: ["write `{ root: ./input }`"],
  },
  approval_config: {
    files: {
      "main.worker":
        "---\ntoolsets: { filesystem: { approval_config: { write_file: { pre_approved: true } } } }\n---\nYou help.\n",
    },
    reports: ["toolset-config main.worker:2:27 error"],
    says: ["every toolset has the key `_approval_config`, with an underscore"],
  },
  "shell rules strings": {
    files: { "main.worker": '---\ntoolsets: { shell: { rules: ["git *"] } }\n---\nYou help.\n' },
    reports: ["toolset-config main.worker:2:30 error"],
    says: ['`shell` does not take this configuration: `rules.0` must be a map with pattern: { pattern: "git *" }'],
  },
  sandbox_paths: {
    files: {
      "main.worker":
        '---\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\ntoolsets: { shell: { rules: [{ pattern: "ls *", approval_required: false, writes: [], sandbox_paths: [ot] }] } }\n---\nYou help.\n',
      "out/a": "",
    },
    reports: ["toolset-config main.worker:3:103 error"],
    says: ["`shell`: `ot` is no scope of this worker; did you mean `out`?"],
  },
  "no scope": {
    files: { "main.worker": "---\nsandbox: { paths: {} }\ntoolsets: { filesystem: {} }\n---\nYou help.\n" },
    reports: ["scopes-required main.worker:3:13 error"],
    says: ["declare one under `sandbox.paths`, or leave `sandbox` out"],
  },
  "filesystem.scopes": {
    files: {
      "main.worker":
        "---\nsandbox: { paths: { notes: { root: ./notes } } }\ntoolsets: { filesystem: { scopes: [note] } }\n---\nYou help.\n",
      "notes/a": "",
    },
    reports: ["toolset-config main.worker:3:36 error"],
    says: ["`filesystem`: `note` is no scope of this worker; did you mean `notes`?"],
  },
  "preapproved rw": {
    files: {
      "main.worker":
        "---\nsandbox: { paths: { out: { root: ./out, mode: rw, write_approval: true } } }\ntoolsets: { filesystem: { _approval_config: { write_file: { pre_approved: true } } } }\n---\nYou help.\n",
      "out/a": "",
    },
    reports: ["approval-without-effect main.worker:3:75 warning"],
    says: ["`filesystem`: `pre_approved: true` of `write_file` does nothing: write_approval of the scope out"],
  },
  "preapproved shell": {
    files: {
      "main.worker":
        "---\ntoolsets: { shell: { rules: [{ pattern: 'rm *', approval_required: true }], _approval_config: { shell: { pre_approved: true } } } }\n---\nYou help.\n",
    },
    reports: ["toolset-warning main.worker:2:49 warning"],
    says: ["`shell`: asks all the same: `pre_approved: true` lifts no question that a rule demands"],
  },
  "unknown toolset": {
    files: { "main.worker": "---\ntoolsets: { filesytem: {} }\n---\nYou help.\n" },
    reports: ["unknown-toolset main.worker:2:13 error"],
    says: ["did you mean `filesystem`?"],
  },
  "toolsets list": {
    files: { "main.worker": "---\ntoolsets: [filesystem]\n---\nYou help.\n" },
    reports: ["toolsets-list main.worker:2:11 error"],
    says: ["write a map from each toolset to its configuration:"],
  },
  mode: {
    files: { "main.worker": "---\nsandbox: { paths: { out: { root: ./out, mode: write } } }\n---\nYou help.\n", "out/a": "" },
    reports: ["invalid-value main.worker:2:47 error"],
    says: ["`sandbox.paths.out.mode` has to be `ro` or `rw`, not `write`"],
  },
  "scope path": {
    files: { "main.worker": "---\nsandbox: { paths: { out: { path: ./out } } }\n---\nYou help.\n", "out/a": "" },
    reports: ["missing-key main.worker:2:26 error", "unknown-key main.worker:2:28 error"],
    says: ["`sandbox.paths.out` needs the key `root`", "did you mean `root: …`?"],
  },
  "approval of unknown tool": {
    files: {
      "main.worker":
        "---\ntoolsets: { filesystem: { _approval_config: { write_fil: { pre_approved: true } } } }\n---\nYou help.\n",
    },
    reports: ["approval-unknown-tool main.worker:2:47 error"],
    says: ["did you mean `write_file`?"],
  },
  "approval as text": {
    files: {
      "main.worker": "---\ntoolsets: { filesystem: { _approval_config: { write_file: pre_approved } } }\n---\nYou help.\n",
    },
    reports: ["wrong-type main.worker:2:59 error"],
    says: ["write `{ pre_approved: true }`"],
  },
  "approval with yes": {
    files: {
      "main.worker":
        "---\ntoolsets: { filesystem: { _approval_config: { write_file: { pre_approved: yes } } } }\n---\nYou help.\n",
    },
    reports: ["wrong-type main.worker:2:75 error"],
    says: ["write `true`, without quotes"],
  },
  "model and compatible": {
    files: { "main.worker": "---\nmodel: anthropic:m\ncompatible_models: ['anthropic:*']\n---\nYou help.\n" },
    model: null,
    reports: ["model-conflict main.worker:3:20 error"],
    says: ["keep one of them"],
  },
  "shell rule misspelt": {
    files: { "main.worker": "---\ntoolsets: { shell: { rules: [{ patern: ls }] } }\n---\nYou help.\n" },
    reports: ["toolset-config main.worker:2:30 error", "toolset-config main.worker:2:32 error"],
    says: [
      "`shell` does not take this configuration: `rules.0` has no pattern",
      "`shell` does not take this configuration: `rules.0.patern` is unknown; did you mean `pattern`?",
    ],
  },
  "shell key misspelt": {
    files: { "main.worker": "---\ntoolsets: { shell: { rule: [] } }\n---\nYou help.\n" },
    reports: ["toolset-config main.worker:2:22 error"],
    says: ["`shell` does not take this configuration: `rule` is unknown; did you mean `rules`?"],
  },
  "shell rule shadowed": {
    files: {
      "main.worker": '---\ntoolsets: { shell: { rules: [{ pattern: "git *" }, { pattern: "git log" }] } }\n---\nYou help.\n',
    },
    reports: ["toolset-warning main.worker:2:54 warning"],
    says: ["`shell`: never decides: the earlier rule `git *` covers all of it"],
  },
  "shell pattern with pipe": {
    files: { "main.worker": '---\ntoolsets: { shell: { rules: [{ pattern: "ls | wc" }] } }\n---\nYou help.\n' },
    reports: ["toolset-warning main.worker:2:32 warning"],
    says: ["`shell`: never matches: `|` is no argument; each command of a line is matched alone"],
  },
  "toolset at the top": {
    files: { "main.worker": "---\nshell: { rules: [] }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:1 error"],
    says: ["write `toolsets: { shell: … }`"],
  },
  "rules at the top": {
    files: { "main.worker": "---\nrules: [{ pattern: ls }]\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:1 error"],
    says: ["`toolsets: { shell: { rules: … } }`"],
  },
  "approvals at the top": {
    files: { "main.worker": "---\n_approval_config: { write_file: { pre_approved: true } }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:1 error"],
    says: ["write it under the toolset whose tools are meant"],
  },
  "network at the top": {
    files: { "main.worker": "---\nnetwork_enabled: true\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:1 error"],
    says: ["did you mean `sandbox: { network_enabled: … }`?"],
  },
  network: {
    files: { "main.worker": "---\nsandbox: { network: true }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:12 error"],
    says: ["did you mean `network_enabled: …`?"],
  },
  "path for paths": {
    files: { "main.worker": "---\nsandbox: { path: { out: { root: . } } }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:12 error"],
    says: ["did you mean `paths`?"],
  },
  "scope named with a blank": {
    files: { "main.worker": "---\nsandbox: { paths: { 'my out': { root: . } } }\n---\nYou help.\n" },
    reports: ["invalid-name main.worker:2:21 error"],
    says: ["a name is a letter, then letters, digits, `_` or `-`"],
  },
  "key of a scope misspelt": {
    files: { "main.worker": "---\nsandbox: { paths: { out: { root: ., write_aproval: false } } }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:37 error"],
    says: ["did you mean `write_approval`?"],
  },
  "suffixes as text": {
    files: { "main.worker": "---\nsandbox: { paths: { out: { root: ., suffixes: .txt } } }\n---\nYou help.\n" },
    reports: ["wrong-type main.worker:2:47 error"],
    says: ['write `[".txt"]`'],
  },
  "scope that nothing uses": {
    files: { "main.worker": "---\nsandbox: { paths: { out: { root: . } } }\n---\nYou help.\n" },
    reports: ["scopes-unused main.worker:2:21 warning"],
    says: ["no toolset of `main` uses its folders", "toolsets: { filesystem: {} }"],
  },
  "worker that calls itself": {
    files: { "main.worker": "---\ndescription: Counts.\ntoolsets: { main: {} }\n---\nYou help.\n" },
    reports: [],
    says: [],
  },
  "shell default as text": {
    files: { "main.worker": "---\ntoolsets: { shell: { default: allow } }\n---\nYou help.\n" },
    reports: ["toolset-config main.worker:2:22 error"],
    says: ["{ approval_required: true }"],
  },
  "preapproved misspelt": {
    files: {
      "main.worker":
        "---\ntoolsets: { filesystem: { _approval_config: { write_file: { preapproved: true } } } }\n---\nYou help.\n",
    },
    reports: ["missing-key main.worker:2:59 error", "unknown-key main.worker:2:61 error"],
    says: ["did you mean `pre_approved`?"],
  },
  "_use misspelt": {
    files: { "main.worker": "---\ntoolsets: { reader: { _use: filesytem } }\n---\nYou help.\n" },
    reports: ["unknown-toolset main.worker:2:29 error"],
    says: ["did you mean `filesystem`?"],
  },
  "_prefix misspelt": {
    files: { "main.worker": "---\ntoolsets: { reader: { _use: filesystem, _prefx: a } }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:41 error"],
    says: ["did you mean `_prefix`?"],
  },
  "configuration as text": {
    files: { "main.worker": "---\ntoolsets: { filesystem: yes }\n---\nYou help.\n" },
    reports: ["wrong-type main.worker:2:25 error"],
    says: ["a toolset without configuration gets `{}`"],
  },
  "toolsets as text": {
    files: { "main.worker": "---\ntoolsets: filesystem\n---\nYou help.\n" },
    reports: ["wrong-type main.worker:2:11 error"],
    says: ["`{ filesystem: {} }`"],
  },
  "worker misspelt": {
    files: {
      "main.worker": "---\ntoolsets: { helpr: {} }\n---\nYou help.\n",
      "helper.worker": "---\ndescription: x\n---\nYou help.\n",
    },
    reports: ["unknown-toolset main.worker:2:13 error"],
    says: ["did you mean `helper`?"],
  },
  "worker and export of one name": {
    files: {
      "main.worker": "---\ntoolsets: { w: {} }\n---\nYou help.\n",
      "tools.ts":
        'import { tool, toolset } from "llm-do";\nexport const w = tool({ input: { type: "object" }, run: () => 1 });\n',
      "w.worker": "---\ndescription: x\n---\nYou help.\n",
    },
    reports: ["ambiguous-toolset main.worker:2:13 error"],
    says: ["rename one of them"],
  },
};
