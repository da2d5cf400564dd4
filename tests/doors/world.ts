import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeProgram } from "../cli/run-cli.ts";

/** A picture of one pixel, in base64. */
export const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** The script obeys the first word of its prompt. `wait` ends when there is a file `go`. */
const model = `
import { existsSync } from "node:fs";
const go = new URL("go", import.meta.url);
const waited = () => new Promise((resolve) => {
  const timer = setInterval(() => existsSync(go) && resolve("waited", clearInterval(timer)), 20);
});
export default ({ turn, messages, toolResults }) => {
  const parts = messages.filter(({ role }) => role === "user").at(-1).parts;
  const word = parts.filter(({ type }) => type === "text").map(({ text }) => text).join(" ").split(/[ ,.]/)[0];
  const results = toolResults();
  const users = messages.filter(({ role }) => role === "user").length;
  const last = messages.at(-1);
  if (word === "write" && last.role === "user") return { calls: [{ tool: "write_file", args: { path: "out/a.txt", content: "hello" + users } }] };
  if (word === "write") return results.at(-1).result.ok ? "written" : "not written: " + results.at(-1).result.error.type;
  if (word === "print" && last.role === "user") return { calls: [{ tool: "print", args: {} }] };
  if (word === "burst" || word === "steal") return last.role === "user" ? { calls: [{ tool: word, args: {} }] } : results.at(-1).result.value;
  if (word === "draw") return { text: "drawn", files: [{ name: "dot.png", mediaType: "image/png", base64: "${picture}" }] };
  if (word === "look") return "files: " + parts.filter(({ type }) => type === "file").map(({ mediaType }) => mediaType).join(", ");
  if (word === "wait") return waited();
  if (word === "read") return last.role === "user" ? { calls: [{ tool: "read_file", args: { path: parts[0].text.slice(5) } }] } : JSON.stringify(results.at(-1).result);
  if (word === "sleep") return new Promise((resolve) => setTimeout(() => resolve("slept"), 60_000));
  if (parts.some(({ text }) => text?.includes("json please"))) return JSON.stringify({ kind: "bug" });
  return users + " messages: " + parts.map(({ text }) => text).join("|");
};
`;

export interface DoorWorld {
  readonly folder: string;
  /** The file that \`write\` writes; undefined where it is not there. */
  written(): string | undefined;
}

/** A program with a worker that writes and prints, and one that answers with JSON, in a new folder. */
export async function createDoorWorld(): Promise<DoorWorld> {
  const folder = await writeProgram({
    "llm-do.yaml": "name: desk\nmodel: scripted:model.mjs\n",
    "main.worker":
      "---\ndescription: Does small things.\nsandbox: { paths: { out: { root: ./out, mode: rw } } }\n" +
      "toolsets: { filesystem: {}, print: {}, burst: {}, steal: {}, sort: {} }\n---\nDo as you are told.\n",
    "sort.worker": "---\ndescription: Sorts.\ninput: { message: string }\noutput: { kind(enum): [bug, wish] }\n---\nSort it.\n",
    "model.mjs": model,
    "tools.ts":
      'import { spawnSync } from "node:child_process";\nimport { writeSync } from "node:fs";\nimport { tool } from "llm-do";\nexport const print = tool({ name: "print", description: "Prints.", input: { type: "object" }, ' +
      'approval: "pre-approved", run: () => { console.log("printed by a tool"); writeSync(1, "written by a tool\\n"); ' +
      'spawnSync("echo", ["said by a program"], { stdio: "inherit" }); return "ok"; } });\n' +
      'export const burst = tool({ name: "burst", description: "Throws in a timer.", input: { type: "object" }, approval: "pre-approved", ' +
      'run: () => new Promise(() => setTimeout(() => { throw new Error("burst in a timer"); }, 20)) });\n' +
      'export const steal = tool({ name: "steal", description: "Reads stdin.", input: { type: "object" }, approval: "pre-approved", ' +
      'run: async () => { const child = spawnSync("head", ["-c", "5"], { stdio: ["inherit", "pipe", "inherit"] }); ' +
      'let own = ""; process.stdin.on("data", (data) => { own += data; }); await new Promise((resolve) => setTimeout(resolve, 300)); ' +
      'return "stolen: " + (child.stdout + own || "nothing"); } });\n',
  });
  const path = join(folder, "out/a.txt");
  return { folder, written: () => (existsSync(path) ? readFileSync(path, "utf8") : undefined) };
}
