// Executors of one database: `node bench/executors.ts postgres://USER@HOST:PORT/NAME [RUNS]`, an empty database (uses `dist/`: build first).
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createNodeHost } from "../src/host/node-host.ts";
import { PostgresStore } from "../src/postgres/postgres-store.ts";
import { RunQueue } from "../src/postgres/run-queue.ts";
import { printRow } from "./timing.ts";

const [url = "", given = "400"] = process.argv.slice(2);
const runs = Number(given);
const host = createNodeHost();
const store = await PostgresStore.open({ url, host });
const queue = await RunQueue.open(store);
const folder = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
const program = (name: string, tools: string, model: string) => {
  const root = join(folder, "programs", name);
  mkdirSync(root, { recursive: true });
  writeFileSync(join(root, "llm-do.yaml"), `name: ${name}\n`);
  writeFileSync(join(root, "main.worker"), `---\nmodel: scripted:s.yaml\ninput: { input?: string }\n${tools}---\nAnswer.\n`);
  writeFileSync(join(root, "s.yaml"), model);
  return root;
};
const roots = {
  answer: program("answer", "", `- reply: ${"an answer ".repeat(20)}\n`),
  asks: program(
    "asks",
    "toolsets: { filesystem: {} }\n",
    "- reply: { calls: [{ tool: write_file, args: { path: a.txt, content: a } }] }\n",
  ),
};
let key = 0;
const submit = async (name: keyof typeof roots) => {
  const submission = { id: host.createId(), program: name, root: roots[name], queue: "default", priority: 0, key: String(++key) };
  return queue.submit({ ...submission, request: { input: { input: `letter ${key}` }, files: [] } });
};
const count = async (ids: readonly string[], state: string) => {
  const text = "SELECT count(*) AS n FROM llm_do.runs WHERE id = ANY($1) AND state = $2";
  return Number((await store.database.query(text, [ids, state])).rows[0]?.["n"]);
};
const until = async (ids: readonly string[], state: string) => {
  while ((await count(ids, state)) < ids.length) await pause(20);
};

async function startExecutors(number: number): Promise<readonly ChildProcess[]> {
  return Promise.all(
    Array.from({ length: number }, async () => {
      const line = [
        join(import.meta.dirname, "../bin/llm-do.js"),
        "executor",
        "--programs",
        join(folder, "programs"),
        "--grace",
        "5",
      ];
      const env = { ...process.env, LLM_DO_STORE: url, LLM_DO_STATE_DIR: join(folder, "state") };
      const child = spawn(process.execPath, line, { env, stdio: ["ignore", "ignore", "pipe"] });
      let text = "";
      await new Promise<void>((resolve, reject) => {
        child.stderr.on("data", (chunk) => {
          text += chunk;
          if (text.includes("llm-do: executes")) resolve();
        });
        child.once("exit", () => reject(new Error(text)));
      });
      return child;
    }),
  );
}

async function end(executors: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    executors.map(
      (child) =>
        new Promise((resolve) => {
          child.once("exit", resolve);
          child.kill("SIGTERM");
        }),
    ),
  );
}

/** Twenty at once: who waits for a connection for ten seconds is refused. */
async function submitAll(name: keyof typeof roots): Promise<readonly string[]> {
  const ids: string[] = [];
  while (ids.length < runs)
    ids.push(...(await Promise.all(Array.from({ length: Math.min(20, runs - ids.length) }, () => submit(name)))));
  return ids;
}

printRow("executors", "runs a second");
for (const number of [1, 2, 4, 8]) {
  const executors = await startExecutors(number);
  const began = performance.now();
  await until(await submitAll("answer"), "done");
  printRow(String(number), ((runs * 1000) / (performance.now() - began)).toFixed(1));
  await end(executors);
}

const [executor] = await startExecutors(1);
const waits: number[] = [];
for (let round = 0; round < 20; round++) {
  await pause(100 + 37 * round);
  const began = host.clock.now() + store.database.clockOffset();
  const id = await submit("answer");
  await until([id], "done");
  waits.push(((await store.read(id)).times[0] ?? 0) - began);
}
waits.sort((one, other) => one - other);
printRow("submit to the first entry of a run, ms", `${waits[0]} least, ${waits[10]} median, ${waits.at(-1)} most`);

const residentOf = (child: ChildProcess | undefined) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child?.pid}/status`, "utf8"))?.[1]) / 1000;
for (const round of [1, 2, 3]) {
  await until(await submitAll("asks"), "suspended");
  await pause(2000);
  printRow(`MB of an executor with ${round * runs} waiting runs`, residentOf(executor).toFixed(0));
}
await end(executor ? [executor] : []);

await queue.close();
await store.close();
rmSync(folder, { recursive: true, force: true });
