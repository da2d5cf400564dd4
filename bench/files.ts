// Files read, written, listed and searched through a scope, and by their paths; a call that writes 10 MB. `npm run build && node bench/files.ts`.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { run } from "../src/index.ts";
import { scriptedModel } from "../src/testing/index.ts";
import { measure, printRow } from "./timing.ts";

// As installed: in a thread of a search, types would be stripped from sources anew each time.
const built = new URL("../dist/host/node-host.js", import.meta.url).href;
const { createNodeHost }: typeof import("../src/host/node-host.ts") = await import(built);
const rounds = 2000;
const root = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
const scopes = await createNodeHost().openScopes([{ name: "s", root, mode: "rw" }]);

printRow("file", "through a scope, ms", "by its path, ms");
printRow("---", "---", "---");
for (const [path, bytes] of [
  ["a.txt", 1000],
  ["a.txt", 1_000_000],
  ["1/2/3/a.txt", 1000],
  ["1/2/3/4/5/6/7/8/a.txt", 1000],
] as const) {
  const plain = join(root, path);
  mkdirSync(dirname(plain), { recursive: true });
  writeFileSync(plain, Buffer.alloc(bytes, "x"));
  const { least: confined } = await measure(rounds, () => scopes.read(`s/${path}`));
  const { least: direct } = await measure(rounds, () => readFile(plain));
  printRow(`read ${path}, ${bytes} bytes`, confined, direct);
}
const content = Buffer.alloc(1000, "x");
let expected = (await scopes.facts("s/a.txt")).identity;
const { least: confined } = await measure(200, async () => {
  ({ identity: expected } = await scopes.write("s/a.txt", content, { expect: expected }));
});
const { least: synced } = await measure(200, () => writeFile(join(root, "plain.txt"), content, { flush: true }));
printRow("write a.txt, 1000 bytes, to the disk", confined, synced);
const large = "a line\n".repeat(1_500_000);
const calls: number[] = [];
await measure(10, async () => calls.push(await timeOfCall(large)));
const plain = await measure(10, () => writeFile(join(root, "plain.txt"), large, { flush: true }));
printRow(`write_file, a whole call, ${large.length} bytes, to the disk`, Math.min(...calls), plain.least);
for (let folder = 0; folder < 100; folder++) {
  mkdirSync(join(root, `many/${folder}`), { recursive: true });
  for (let file = 0; file < 1000; file++) writeFileSync(join(root, `many/${folder}/${file}`), "a line\n".repeat(20));
}
const list = () => scopes.list("s/many", { pattern: "**/*", maxEntries: 1_000_000 });
const limits = { maxMatches: 1000, maxBytesOfFile: 5_000_000, milliseconds: 60_000 };
const search = () => scopes.search("s/many", { pattern: "**/*", regex: "needle", ...limits });
const start = async (command: string, ...args: readonly string[]) => {
  // By default, a process that prints more than 1 MB is killed: its time would not count for the whole tree.
  const { error } = spawnSync(command, [...args, join(root, "many")], { maxBuffer: Number.POSITIVE_INFINITY });
  if (error) throw error;
};
printRow("list 100,000 files; find", (await measure(5, list)).least, (await measure(5, () => start("find"))).least);
printRow("search them; grep -r", (await measure(5, search)).least, (await measure(5, () => start("grep", "-r", "needle"))).least);
await scopes.close();
rmSync(root, { recursive: true });

/** Milliseconds from a call of `write_file` to its result, with gate, journal and undo's log. */
async function timeOfCall(content: string): Promise<number> {
  const program = mkdtempSync(join(root, "program-"));
  const head =
    "description: d\nsandbox: { paths: { out: { root: ., mode: rw, write_approval: false } } }\ntoolsets: { filesystem: {} }";
  writeFileSync(join(program, "main.worker"), `---\n${head}\n---\nYou help.\n`);
  const calls = [{ tool: "write_file", args: { path: "out/a.txt", content } }];
  const model = scriptedModel(({ turn }) => (turn === 1 ? { calls } : "done"), "test:model");
  const provider = { name: "test", description: "for the bench", keyVariables: [], create: async () => model };
  const times: number[] = [];
  await run({
    ...{ target: program, input: "go", model: "test:model", trust: true, providers: [provider] },
    approval: { mode: "approve_all" },
    onEvent: ({ type }) => {
      if (type === "tool-call" || type === "tool-result") times.push(performance.now());
    },
  });
  rmSync(program, { recursive: true });
  const [began, ended] = times;
  if (began === undefined || ended === undefined) throw new Error("the call was not made");
  return ended - began;
}
