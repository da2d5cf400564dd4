import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { answerQuestions, listQuestions } from "../../src/front/questions.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { keyOf } from "../../src/journal/stores/folder-store.ts";
import { PostgresStore } from "../../src/postgres/postgres-store.ts";
import { RunQueue } from "../../src/postgres/run-queue.ts";
import { seededFraction } from "../../src/util/seeded-fraction.ts";
import { type RunningCli, startCli, temporaryFolder, writeProgram } from "../cli/run-cli.ts";
import { noWall } from "../host/command-bench.ts";
import { hasPostgres, useCluster } from "./cluster.ts";
import { machinesOf, storeKey } from "./machines.ts";
import { soakPrograms } from "./soak-programs.ts";

const runs = Number(process.env["LLM_DO_SOAK_RUNS"] ?? 30);
const processes = Number(process.env["LLM_DO_SOAK_EXECUTORS"] ?? 2);
const seed = process.env["LLM_DO_SEED"] ?? "1";
/** The runs that each executor has at a time. */
const slots = 4;
/** Longer than a lease. */
const stopMilliseconds = 17_000;

/** How often each disturbance comes in a hundred runs. The first two of a slice overlap: both wait for the end of a lease. */
const shares = { stop: 0.5, kill: 2, cut: 0.5, restart: 0.2, terminate: 0.2 };
type Disturbance = keyof typeof shares;
/** One of so many runs is submitted, and another one approved, by a command that is killed. */
const killedCallers = 50;

const programs = Object.keys(soakPrograms).filter((name) => name !== "hold" && (name !== "terminal" || noWall === ""));
const programOf = (number: number) => programs[number % programs.length] ?? "";

/** A run, as the database has it at the end. */
interface EndedRun {
  readonly id: string;
  readonly state: string;
  readonly isUncertain: boolean;
  readonly ends: number;
  readonly askedAgain: number;
}

const title = `${runs} runs on ${processes} disturbed executors end once, and do nothing twice (seed ${seed})`;

describe.skipIf(!hasPostgres)("executors that are disturbed (skipped where PostgreSQL is not installed)", () => {
  const cluster = useCluster();

  test(title, { timeout: 7_200_000 }, async () => {
    const url = await cluster.create();
    const files = Object.entries(soakPrograms).flatMap(([name, own]) =>
      Object.entries(own).map(([path, text]) => [`${name}/${path}`, text]),
    );
    const cwd = await writeProgram(Object.fromEntries(files));
    const ledger = join(await temporaryFolder(), "ledger.txt");
    await writeFile(ledger, "");
    const variables = { FILE_MILLISECONDS: "1000", LEDGER: ledger };
    const machine = await machinesOf(url)(cwd, variables);
    /** As a supervisor does: one that cannot begin while the database is away is started again. */
    const start = async (): Promise<RunningCli> => {
      for (let attempt = 1; ; attempt++) {
        const started = await machine.execute("--concurrency", String(slots)).catch(String);
        if (typeof started !== "string") return started;
        if (attempt === 20) throw new Error(started);
      }
    };
    const executors = await Promise.all(Array.from({ length: processes }, start));
    const store = await untilDone(() => PostgresStore.open({ url, key: storeKey, host: createNodeHost() }));
    onTestFinished(() => store.close());

    let drawn = 0;
    const draw = (most: number) => Math.floor(seededFraction(`${seed} ${drawn++}`) * most);
    const killCaller = async (...args: readonly string[]) => {
      const { child, result } = startCli(args, { cwd, env: machine.env });
      await Promise.race([pause(150 + draw(700)), result]);
      child.kill("SIGKILL");
      await result;
    };
    /** As a caller does that got no answer. */
    const submitUntilDone = async (line: readonly string[]): Promise<string> => {
      for (let attempt = 1; ; attempt++) {
        const { exitCode, stdout, stderr } = await machine.cli(...line);
        if (exitCode === 0) return stdout.trim();
        if (attempt === 20) throw new Error(stderr);
      }
    };
    const done = { submit: 0, approve: 0, stop: 0, kill: 0, cut: 0, restart: 0, terminate: 0 };

    const queue = await untilDone(() => RunQueue.open(store));
    const ids: string[] = [];
    for (let number = 0; number < runs; number++) {
      const line = ["submit", programOf(number), `letter ${number}`, "--key", String(number)];
      if (number % killedCallers === 0) {
        done.submit++;
        await killCaller(...line);
        ids.push(await submitUntilDone(line));
      } else ids.push(await submitTwice(queue, join(cwd, programOf(number)), number));
    }

    const plan = Object.entries(shares).flatMap(([kind, share]) =>
      Array.from({ length: Math.max(1, Math.round((share * runs) / 100)) }, (_, index) => ({
        kind: kind as Disturbance,
        order: runs < 100 ? 0 : seededFraction(`${seed} ${kind} ${index}`),
      })),
    );
    plan.sort((one, other) => one.order - other.order);
    const left = new Set(ids.filter((_, number) => number % killedCallers === 1));
    const isOwn = async (id: string) => {
      if (!left.delete(id)) return true;
      done.approve++;
      await killCaller("approve", id, programOf(ids.indexOf(id)), "--all", "--yes");
      return false;
    };
    const count = async () => Number((await store.database.query(counted, [ids])).rows[0]?.["n"]);
    const stopped: Promise<void>[] = [];
    const began = performance.now();
    let next = 0;
    for (;;) {
      const ended = await answerAll(store, isOwn).then(count, () => undefined);
      await pause(50);
      if (ended === runs) break;
      if (ended === undefined || next === plan.length || ended < (next * runs) / (plan.length + 2)) continue;
      const { kind } = plan[next++] ?? { kind: "kill" };
      done[kind]++;
      await disturb(kind, draw(executors.length));
    }
    await Promise.all(stopped);
    expect(next).toBe(plan.length);
    const seconds = Math.round((performance.now() - began) / 1000);
    const gone = executors.filter(({ child }) => child.exitCode !== null || child.signalCode !== null);
    expect(gone.map((one) => one.stderrSoFar().slice(-2000))).toEqual([]);
    await holdEverySlot();
    await queue.close();
    for (const { child, result } of executors) {
      child.kill("SIGTERM");
      expect((await result).exitCode).toBe(143);
    }

    const lines = new Map<string, number>();
    for (const file of [ledger, join(cwd, "terminal/out/ledger.txt")])
      for (const line of (await readFile(file, "utf8")).split("\n")) lines.set(line, (lines.get(line) ?? 0) + 1);
    const ends: EndedRun[] = [];
    for (const id of ids) ends.push(await untilDone(() => endOf(store, id)));
    expect(ends.filter(({ state, ends, askedAgain }) => state !== "done" || ends !== 1 || askedAgain > 0)).toEqual([]);
    const wrong = ends.filter(({ isUncertain }, number) => {
      const filed = lines.get(`letter ${number}`) ?? 0;
      return isUncertain ? filed > 1 : filed !== 1;
    });
    expect(wrong).toEqual([]);
    const uncertain = ends.filter(({ isUncertain }) => isUncertain).length;
    process.stdout.write(`${runs} runs in ${seconds} s, ${uncertain} uncertain; ${JSON.stringify(done)}\n`);

    async function disturb(kind: Disturbance, which: number): Promise<void> {
      if (kind === "restart") return cluster.restart();
      if (kind === "cut")
        return void (await cluster.psql(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname IS NOT NULL",
        ));
      const { child, result } = executors[which] as RunningCli;
      if (kind === "stop") {
        child.kill("SIGSTOP");
        stopped.push(pause(stopMilliseconds).then(() => void child.kill("SIGCONT")));
        return;
      }
      // One that is stopped gets no other signal.
      child.kill("SIGCONT");
      child.kill(kind === "kill" ? "SIGKILL" : "SIGTERM");
      await result;
      executors[which] = await start();
    }

    /** Each executor still has all of its slots: as many runs as they are go on at a time. */
    async function holdEverySlot(): Promise<void> {
      const held: string[] = [];
      for (let number = 0; number < processes * slots; number++)
        held.push(await submitTwice(queue, join(cwd, "hold"), runs + number));
      const inState = async (state: string) => {
        const text = "SELECT count(*) AS n FROM llm_do.runs WHERE id = ANY($1) AND state = $2";
        return Number((await untilDone(() => store.database.query(text, [held, state]))).rows[0]?.["n"]);
      };
      await expect.poll(() => inState("running"), { timeout: 120_000, interval: 200 }).toBe(held.length);
      await writeFile(join(cwd, "hold/go"), "");
      await expect.poll(() => inState("done"), { timeout: 120_000, interval: 200 }).toBe(held.length);
    }
  });
});

const counted = "SELECT count(*) AS n FROM llm_do.runs WHERE id = ANY($1) AND state = 'done'";

/** Submits a run twice, as a caller does that did not get its answer. */
async function submitTwice(queue: RunQueue, root: string, number: number): Promise<string> {
  const host = createNodeHost();
  const name = root.slice(root.lastIndexOf("/") + 1);
  const submission = { program: keyOf({ root, name }, true), root, queue: "default", priority: 0, key: String(number) };
  const request = { input: { input: `letter ${number}` }, files: [] };
  const submit = () => untilDone(() => queue.submit({ ...submission, id: host.createId(), request }));
  const id = await submit();
  expect(await submit()).toBe(id);
  return id;
}

/** Calls again what the database refused, or cut: this test is a client as any, on a machine that its executors keep busy. */
async function untilDone<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call();
    } catch (error) {
      if (attempt === 20) throw error;
      await pause(250);
    }
  }
}

/** Approves what some runs ask, so that disturbances come between them, and takes calls as done that may have run. `isOwn`: false for a run that somebody else answers. */
async function answerAll(store: PostgresStore, isOwn: (id: string) => Promise<boolean>): Promise<void> {
  const { rows } = await store.database.query("SELECT id FROM llm_do.runs WHERE state = 'suspended' ORDER BY random() LIMIT 10");
  for (const { id } of rows) {
    const reference = { run: String(id), store };
    const { questions } = await listQuestions(reference);
    const answers = questions.map((question) => ({
      id: question.id,
      decision: question.key.endsWith("again")
        ? ({ type: "deny", message: "taken as done" } as const)
        : ({ type: "approve" } as const),
    }));
    const isAsked = answers.some(({ decision }) => decision.type === "approve");
    if (answers.length > 0 && (!isAsked || (await isOwn(String(id))))) await answerQuestions({ ...reference, answers });
  }
}

async function endOf(store: PostgresStore, id: string): Promise<EndedRun> {
  const { rows } = await store.database.query("SELECT state FROM llm_do.runs WHERE id = $1", [id]);
  const { facts } = await store.read(id);
  const answers = facts.filter((fact) => fact.type === "answer");
  const keys = answers.filter(({ key }) => !key.endsWith("again")).map(({ callPath, key }) => `${callPath} ${key}`);
  return {
    id,
    state: String(rows[0]?.["state"]),
    isUncertain: answers.some(({ key }) => key.endsWith("again")),
    ends: facts.filter((fact) => fact.type === "run-end" && fact.stopReason === "done").length,
    askedAgain: keys.length - new Set(keys).size,
  };
}
