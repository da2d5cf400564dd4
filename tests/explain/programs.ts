import { join } from "node:path";
import { compile, tool } from "../../src/index.ts";
import type { Outline } from "../../src/protocol/outline.ts";
import { compileOn, createMachine, worker } from "../compile/machine.ts";

const input = { type: "object" };

/** The example of the README, as from a fresh clone. */
export async function outlineOfExample(): Promise<Outline> {
  const target = join(import.meta.dirname, "../../examples/pitchdeck_eval");
  const { outline } = await compile({ target, model: "anthropic:claude-sonnet-4-5" });
  return require(outline);
}

/** Two workers with the shell, the first of which calls the second. */
export async function outlineOfShells(main: string, careful = "", ofCareful?: string): Promise<Outline> {
  const shell = "shell: { rules: [{ pattern: ls }] }";
  const files = {
    "main.worker": worker(`description: main\n${main}\ntoolsets: { ${shell}, careful: {} }`),
    "careful.worker": worker(`description: careful\n${careful}\ntoolsets: { ${ofCareful ?? shell} }`),
  };
  const { outline } = await compileOn(createMachine({ files }));
  return require(outline);
}

const modules = {
  "tools.ts": {
    free: tool({ input, approval: "pre-approved", run: () => 1 }),
    careful: tool({ input, run: () => 1 }),
    review: tool({ input, calls: ["deep", "free"], run: () => 1 }),
    start: () => 1,
  },
};

/** Workers that call one another and themselves, code that calls workers, and scopes in other places. */
const files = {
  "llm-do.yaml": "name: newsroom\nmodel: openai:gpt-5\nlimits: { tokens: 200000, turns: 30 }\napproval: { mode: reject_all }",
  "main.worker": worker(`
description: runs the desk
toolsets:
  filesystem: { _approval_config: { read_file: { pre_approved: false } } }
  editor: {}
  free: {}
  careful: { _approval_config: { careful: { pre_approved: true } } }
  review: {}
sandbox:
  paths:
    drafts: { root: ./drafts, mode: rw }
    archive: { root: /srv/archive, mode: rw, write_approval: false, suffixes: [.md, .txt] }
    letters: { root: "~/letters", read_approval: true, max_file_bytes: 12345 }
limits: { turns: 40, seconds: 600 }`),
  "editor.worker": worker(`
description: edits
compatible_models: ["anthropic:*"]
input: { text: string }
toolsets:
  writer: { _approval_config: { writer: { pre_approved: true } } }
  main: {}
  editor: {}
attachment_policy: { denied_suffixes: [.exe] }`),
  "writer.worker": worker(
    "description: writes\ntoolsets: { first: {} }\nsandbox: { paths: {} }\nserver_side_tools: [{ tool_type: web_search }, { tool_type: image_generation }]",
  ),
  "first.worker": worker("description: first\nmodel: openai:gpt-5-nano\ntoolsets: { second: {} }\ninput: { text: string }"),
  "second.worker": worker("description: second\ntoolsets: { third: {} }\ninput: { text: string }"),
  "third.worker": worker("description: third\ntoolsets: { filesystem: {} }\ninput: { text: string }"),
  "deep.worker": worker("description: deep\ninput: { deck: attachment }"),
  "tools.ts": "export const free = 1;\nexport const careful = 1;\nexport const review = 1;\nexport const start = 1;\n",
  "drafts/a.md": "a",
  "/srv/archive/a.md": "a",
  "/home/user/letters/a.md": "a",
};

export async function outlineOfNewsroom(request: { readonly trust: boolean; readonly entry?: string }): Promise<Outline> {
  const host = createMachine({ files, modules });
  const { outline, shown } = await compileOn(host, { ...request, model: "", modelFor: ["edit*=anthropic:claude-sonnet-4-5"] });
  if (!outline) throw new Error(shown.join("\n"));
  return outline;
}

function require(outline: Outline | undefined): Outline {
  if (!outline) throw new Error("the program has mistakes");
  return outline;
}
