import { desk } from "./machines.ts";

const oneCall = (call: string) => `export default (request) =>
  request.toolResults().length > 0 ? "filed" : { calls: [${call}] };
`;
const main = (toolsets: string, more = "") =>
  `---\nmodel: scripted:model.mjs\ninput: { input?: string }\n${more}toolsets: ${toolsets}\n---\nFile it.\n`;

/**
 * Programs of the soak. Each call that asks leaves a line in a ledger outside of all records: of the tool `file`, of the same tool in a
 * child, and of a command. The runs of `hold` keep their slots until there is a file `go`.
 */
export const soakPrograms: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  desk: {
    "llm-do.yaml": "name: desk\n",
    "tools.ts": desk["tools.ts"],
    "main.worker": main("{ desk: {} }"),
    "model.mjs": oneCall(`{ tool: "file", args: { text: request.lastUserText() } }`),
  },
  office: {
    "llm-do.yaml": "name: office\n",
    "tools.ts": desk["tools.ts"],
    "main.worker": main("{ clerk: {} }"),
    "clerk.worker": main("{ desk: {} }"),
    "model.mjs": oneCall(`request.worker === "clerk"
    ? { tool: "file", args: { text: request.lastUserText() } }
    : { tool: "clerk", args: { input: request.lastUserText() } }`),
  },
  terminal: {
    "llm-do.yaml": "name: terminal\n",
    "main.worker": main(
      `\n  shell:\n    rules: [{ pattern: echo, writes: [out], approval_required: true }]`,
      "sandbox: { paths: { out: { root: ./out, mode: rw } } }\n",
    ),
    "model.mjs": oneCall(
      `{ tool: "shell", args: { command: "echo " + request.lastUserText() + " >> ledger.txt", cwd: "out", writes: ["out"] } }`,
    ),
    "out/ledger.txt": "",
  },
  hold: {
    "llm-do.yaml": "name: hold\n",
    "main.worker": main("{ wait: {} }"),
    "model.mjs": oneCall(`{ tool: "wait", args: {} }`),
    "tools.ts": `import { existsSync } from "node:fs";
import { tool } from "llm-do";
export const wait = tool({ input: { type: "object" }, approval: "pre-approved", run: async () => {
  while (!existsSync(new URL("./go", import.meta.url))) await new Promise((resolve) => setTimeout(resolve, 50));
  return "went";
} });
`,
  },
};
