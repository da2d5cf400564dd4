import type { Mistakes } from "./mistake.ts";

export const inManifestsAndFileNames: Mistakes = {
  entrypoint: {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": "entrypoint: main\n" },
    reports: ["unknown-key llm-do.yaml:1:1 error"],
    says: ["did you mean `entry: …`?"],
  },
  deny: {
    files: {
      "main.worker": "---\n\n---\nYou help.\n",
      "llm-do.yaml": 'approval: { rules: [{ effect: deny, rule: "shell" }] }\n',
    },
    reports: ["invalid-value llm-do.yaml:1:31 error"],
    says: ["a rule that denies is written `effect: block`"],
  },
  yml: {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yml": "approval: { mode: reject_all }\n" },
    reports: ["manifest-name llm-do.yml:1:1 error"],
    says: ["rename it to `llm-do.yaml`"],
  },
  YAML: {
    files: { "main.worker": "---\n\n---\nYou help.\n", "LLM-DO.yaml": "approval: { mode: reject_all }\n" },
    reports: ["manifest-name LLM-DO.yaml:1:1 error"],
    says: ["rename it to `llm-do.yaml`"],
  },
  _: {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm_do.yaml": "x", "project.json": "{}", "program.yaml": "" },
    reports: ["manifest-name llm_do.yaml:1:1 error", "file-ignored program.yaml:1:1 hint", "file-ignored project.json:1:1 hint"],
    says: ["rename it to `llm-do.yaml`", "the manifest of a program is `llm-do.yaml`"],
  },
  "tools.py": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "tools.py": "x", "old.agent": "" },
    reports: ["file-ignored old.agent:1:1 hint", "file-ignored tools.py:1:1 hint"],
    says: ["a worker is a `.worker` file", "tools are TypeScript: write them in `tools.ts`"],
  },
  "unused manifest": {
    files: {
      "main.worker": "---\n\n---\nYou help.\n",
      "llm-do.yaml": "profiles: { strict: { limits: { turns: 3 } } }\ntoolsets: { reader: { _use: filesystem } }\n",
    },
    reports: ["manifest-entry-unused llm-do.yaml:1:13 hint", "manifest-entry-unused llm-do.yaml:2:13 hint"],
    says: [
      "no worker that the entry reaches names the profile `strict` under `extends`",
      "no worker that the entry reaches names the toolset `reader` under `toolsets`",
    ],
  },
  "latin1 manifest": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": Buffer.from("description: café", "latin1") },
    reports: ["file-encoding llm-do.yaml:1:17 error"],
    says: ["save the file as UTF-8"],
  },
  "extends misspelt": {
    files: {
      "main.worker": "---\nextends: strikt\n---\nYou help.\n",
      "llm-do.yaml": "profiles: { strict: { limits: { turns: 3 } } }\n",
    },
    reports: ["extends-unknown main.worker:2:10 error"],
    says: ["did you mean `strict`?"],
  },
  "manifest entry misspelt": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": "entry: mian\n" },
    reports: ["entry-not-found llm-do.yaml:1:8 error"],
    says: ["did you mean `main`?"],
  },
  "manifest mode": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": "approval: { mode: approve_all }\n" },
    reports: ["invalid-value llm-do.yaml:1:19 error"],
    says: ["only the user who starts a run can approve everything: `--approve-all`"],
  },
  "manifest rule misspelt": {
    files: {
      "main.worker": "---\ntoolsets: { filesystem: {} }\n---\nYou help.\n",
      "llm-do.yaml": "approval: { rules: [{ effect: block, rule: write_fle }] }\n",
    },
    reports: ["approval-rule-unused llm-do.yaml:1:44 warning"],
    says: ["did you mean `write_file`?"],
  },
  "manifest as list": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": "- model\n" },
    reports: ["manifest-not-map llm-do.yaml:1:1 error"],
    says: ["write lines of `key: value`"],
  },
  "manifest without a space after a colon": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": "model:anthropic:claude-sonnet-4-5\n" },
    reports: ["manifest-not-map llm-do.yaml:1:1 error"],
    says: ["a space has to follow the colon: `model: anthropic:claude-sonnet-4-5`"],
  },
  "manifest json": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.json": "{}\n" },
    reports: ["manifest-name llm-do.json:1:1 error"],
    says: ["rename it to `llm-do.yaml`"],
  },
  "manifest allow": {
    files: {
      "main.worker": "---\n\n---\nYou help.\n",
      "llm-do.yaml": 'approval: { rules: [{ effect: allow, rule: "shell" }] }\n',
    },
    reports: ["invalid-value llm-do.yaml:1:31 error"],
    says: ["a manifest can only tighten: write `_approval_config` under the toolset, or start the run with `--approve`"],
  },
  "main.workr": {
    files: { "main.workr": "---\n\n---\nYou help.\n" },
    reports: ["entry-not-found - error"],
    says: ["rename `main.workr` to `main.worker`"],
  },
  "two manifests": {
    files: {
      "main.worker": "---\n\n---\nYou help.\n",
      "llm-do.yaml": "name: x\n",
      "llm-do.yml": "approval: { mode: reject_all }\n",
    },
    reports: ["manifest-name llm-do.yml:1:1 error"],
    says: ["`llm-do.yml` is not read"],
  },
  "mode misspelt": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": "approval: { mode: rejectall }\n" },
    reports: ["invalid-value llm-do.yaml:1:19 error"],
    says: ["did you mean `reject_all`?"],
  },
  "rules at the top": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": "rules: [{ effect: block, rule: shell }]\n" },
    reports: ["unknown-key llm-do.yaml:1:1 error"],
    says: ["did you mean `approval: { rules: … }`?"],
  },
  "rule as text": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": "approval: { rules: ['shell(rm *)'] }\n" },
    reports: ["wrong-type llm-do.yaml:1:21 error"],
    says: ['write `{ effect: block, rule: "shell(rm *)" }`'],
  },
  "rule unclosed": {
    files: {
      "main.worker": "---\n\n---\nYou help.\n",
      "llm-do.yaml": "approval: { rules: [{ effect: block, rule: 'shell(rm *' }] }\n",
    },
    reports: ["approval-rule llm-do.yaml:1:44 error"],
    says: ["a rule is written as `tool`, `worker/tool` or `worker/tool(pattern)`"],
  },
  "argument of a rule with a colon": {
    files: {
      "main.worker": "---\ntoolsets: { shell: { rules: [{ pattern: ls }] } }\n---\nYou help.\n",
      "llm-do.yaml": "approval: { rules: [{ effect: block, rule: 'shell(command: rm *)' }] }\n",
    },
    reports: ["approval-rule-unused llm-do.yaml:1:44 warning"],
    says: ["write `command=rm *`"],
  },
  "argument of a rule misspelt": {
    files: {
      "main.worker": "---\ntoolsets: { filesystem: {} }\n---\nYou help.\n",
      "llm-do.yaml": "approval: { rules: [{ effect: block, rule: 'write_file(pth=a)' }] }\n",
    },
    reports: ["approval-rule-unused llm-do.yaml:1:44 warning"],
    says: ["did you mean `path`?"],
  },
  "worker of a rule misspelt": {
    files: {
      "main.worker": "---\ntoolsets: { filesystem: {} }\n---\nYou help.\n",
      "llm-do.yaml": "approval: { rules: [{ effect: block, rule: 'mian/write_file' }] }\n",
    },
    reports: ["approval-rule-unused llm-do.yaml:1:44 warning"],
    says: ["did you mean `main`?"],
  },
  "settings of workers": {
    files: { "main.worker": "---\n\n---\nYou help.\n", "llm-do.yaml": "attachment_policy: { max_attachments: 1 }\n" },
    reports: ["unknown-key llm-do.yaml:1:1 error"],
    says: ["it is a key of worker files, and of profiles"],
  },
  "settings of the manifest": {
    files: { "main.worker": "---\napproval: { mode: reject_all }\n---\nYou help.\n" },
    reports: ["unknown-key main.worker:2:1 error"],
    says: ["it is a key of `llm-do.yaml`"],
  },
};
