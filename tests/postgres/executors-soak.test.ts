import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { keyOf } from "../../src/journal/folder-store.ts";
import { PostgresStore } from "../../src/postgres/postgres-store.ts";
import { RunQueue } from "../../src/postgres/run-queue.ts";
import { answerQuestions, listQuestions } from "../../src/questions.ts";
import { seededFraction } from "../../src/util/seeded-fraction.ts";
import { type RunningCli, temporaryFolder, writeProgram } from "../cli/run-cli.ts";
import { hasPostgres, useCluster } from "./cluster.ts";
import { desk, machinesOf, storeKey } from "./machines.ts";

const runs = Number(process.env["LLM_DO_SOAK_RUNS"] ?? 30);
const disturbances = Math.max(4, Math.ceil(runs / 20));
const seed = process.env["LLM_DO_SEED"] ?? "1";
const kinds = ["kill", "cut", "restart", "terminate"] as const;

/** A bot answers its questions. Each call leaves a line in a ledger outside of all records. */
const program = {
  ...desk,
  "main.worker": desk["main.worker"].replace("model.yaml", "model.mjs"),
  "model.mjs": `export default (request) =>
  request.toolResults().length > 0 ? "filed" : { calls: [{ tool: "file", args: { text: request.lastUserText() } }] };
`,
};

/** A run, as the database has it at the end. */
interface EndedRun {
  readonly id: string;
  readonly state: string;
  readonly isUncertain: boolean;
  readonly ends: number;
  readonly asked: number;
}

describe.skipIf(!hasPostgres)("executors that are disturbed (skipped where PostgreSQL is not installed)", () => {
  const cluster = useCluster();

  test(`${runs} runs on killed executors and a database that goes away end once, and do nothing twice (seed ${seed})`, async () => {
    const url = await cluster.create();
    const cwd = await writeProgram(program);
    const ledger = join(await temporaryFolder(), "ledger.txt");
    const machine = machinesOf(url);
    const start = async () => (await machine(cwd, { FILE_MILLISECONDS: "1000", LEDGER: ledger })).execute("--concurrency", "4");
    const executors = [await start(), await start()];
    const store = await PostgresStore.open({ url, key: storeKey, host: createNodeHost() });
    onTestFinished(() => store.close());
    const ids = await submitAll(store, cwd);

    let drawn = 0;
    const draw = (most: number) => Math.floor(seededFraction(`${seed} ${drawn++}`) * most);
    const count = async () =>
      Number((await store.database.query("SELECT count(*) AS n FROM llm_do.runs WHERE state = 'done'")).rows[0]?.["n"]);
    for (let next = 0; ; ) {
      const ended = await answerAll(store).then(count, () => undefined);
      await pause(50);
      if (ended === runs) break;
      if (ended === undefined || next === disturbances || ended < ((next + 1) * runs) / (disturbances + 2)) continue;
      await disturb(kinds[(next++ + Number(seed)) % kinds.length] ?? "kill", draw(executors.length));
    }
    for (const { child, result } of executors) {
      child.kill("SIGTERM");
      expect((await result).exitCode).toBe(143);
    }

    const lines = (await readFile(ledger, "utf8")).trim().split("\n");
    const ended = await Promise.all(ids.map((id) => endOf(store, id)));
    expect(ended.filter(({ state, ends, asked }) => state !== "done" || ends !== 1 || asked !== 1)).toEqual([]);
    const wrong = ended.filter(({ isUncertain }, number) => {
      const filed = lines.filter((line) => line === `letter ${number}`).length;
      return isUncertain ? filed > 1 : filed !== 1;
    });
    expect(wrong).toEqual([]);
    process.stdout.write(`uncertain: ${ended.filter(({ isUncertain }) => isUncertain).length} of ${runs}\n`);

    async function disturb(kind: (typeof kinds)[number], which: number): Promise<void> {
      if (kind === "restart") return cluster.restart();
      if (kind === "cut")
        return void (await cluster.psql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL",
        ));
      const ending = executors[which] as RunningCli;
      ending.child.kill(kind === "kill" ? "SIGKILL" : "SIGTERM");
      await ending.result;
      executors[which] = await start();
    }
  }, 3_600_000);
});

/** Submits each run twice, as a caller does that did not get its answer. */
async function submitAll(store: PostgresStore, root: string): Promise<readonly string[]> {
  const queue = await RunQueue.open(store);
  const host = createNodeHost();
  const ids: string[] = [];
  for (let number = 0; number < runs; number++) {
    const submission = { program: keyOf({ root, name: "desk" }, true), root, queue: "default", priority: 0, key: String(number) };
    const request = { input: { input: `letter ${number}` }, files: [] };
    const id = await queue.submit({ ...submission, id: host.createId(), request });
    expect(await queue.submit({ ...submission, id: host.createId(), request })).toBe(id);
    ids.push(id);
  }
  await queue.close();
  return ids;
}

/** Approves what is asked, and takes calls as done that may have run. */
async function answerAll(store: PostgresStore): Promise<void> {
  const { rows } = await store.database.query("SELECT id FROM llm_do.runs WHERE state = 'suspended'");
  for (const { id } of rows) {
    const reference = { run: String(id), store };
    const { questions } = await listQuestions(reference);
    const answers = questions.map((question) => ({
      id: question.id,
      decision: question.key.endsWith("again")
        ? ({ type: "deny", message: "taken as done" } as const)
        : ({ type: "approve" } as const),
    }));
    if (answers.length > 0) await answerQuestions({ ...reference, answers });
  }
}

async function endOf(store: PostgresStore, id: string): Promise<EndedRun> {
  const { rows } = await store.database.query("SELECT state FROM llm_do.runs WHERE id = $1", [id]);
  const { facts } = await store.read(id);
  const answers = facts.filter((fact) => fact.type === "answer");
  return {
    id,
    state: String(rows[0]?.["state"]),
    isUncertain: answers.some(({ key }) => key.endsWith("again")),
    ends: facts.filter((fact) => fact.type === "run-end" && fact.stopReason === "done").length,
    asked: answers.filter(({ key }) => !key.endsWith("again")).length,
  };
}
