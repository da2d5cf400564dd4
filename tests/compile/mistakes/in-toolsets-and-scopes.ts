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
    says: ["write `{ root: ./folder }`"],
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
    says: ['`shell` does not take this configuration: rules.0: must be a map with pattern: { pattern: "git *" }'],
  },
  sandbox_paths: {
    files: {
      "main.worker":
        '---\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\ntoolsets: { shell: { rules: [{ pattern: "ls *", approval_required: false, sandbox_paths: [ot] }] } }\n---\nYou help.\n',
      "out/a": "",
    },
    reports: ["toolset-config main.worker:3:91 error"],
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
      "`shell` does not take this configuration: rules.0: has no pattern",
      "`shell` does not take this configuration: rules.0.patern: is unknown; did you mean pattern?",
    ],
  },
  "shell key misspelt": {
    files: { "main.worker": "---\ntoolsets: { shell: { rule: [] } }\n---\nYou help.\n" },
    reports: ["toolset-config main.worker:2:22 error"],
    says: ["`shell` does not take this configuration: rule: is unknown; did you mean rules?"],
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
};
