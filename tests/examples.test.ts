import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { commandLinesOf, readBlocks } from "../scripts/check-docs.ts";
import type { TestReport } from "../src/cases/test-report.ts";
import { compile } from "../src/index.ts";
import { runsIn } from "./records.ts";

/*
 * Every example compiles, and has tests beside its prompt, which run with a script in the place of the model. What runs otherwise
 * runs in a copy, so that what it writes does not end up in the repository.
 */

const root = dirname(import.meta.dirname);
const folder = mkdtempSync(join(tmpdir(), "llm-do-examples-"));
const shop = join(folder, "shop.db");
const names = readdirSync(join(root, "examples"), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

beforeAll(() => {
  if (!existsSync(join(root, "dist", "index.js"))) throw new Error("there is no dist/: run `npm run build` first");
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  mkdirSync(join(folder, "examples"));
  for (const name of names)
    cpSync(join(root, "examples", name), join(folder, "examples", name), { recursive: true, filter: isSource });
  spawnSync(process.execPath, [join(root, "examples/database/make-shop.ts"), shop]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Not what earlier runs in the repository left behind. */
function isSource(path: string): boolean {
  return !/[\\/](?:\.llm-do|evaluations|generated|output)$/.test(path);
}

describe.each(names)("%s", (name) => {
  const place = join(folder, "examples", name);

  test("has a README that says what it does", () => {
    expect(readme(place)).toMatch(/^# \S/);
  });

  test("compiles without errors", async () => {
    const { program, diagnostics } = await compile({ target: place, trust: true });
    expect(diagnostics.filter(({ severity }) => severity !== "hint").map(({ code, message }) => `${code}: ${message}`)).toEqual(
      [],
    );
    expect(program).toBeDefined();
  });

  test("has a README with a line that runs it, and tests", () => {
    const lines = readBlocks(readme(place))
      .filter(({ language }) => language === "sh")
      .flatMap(({ text }) => commandLinesOf(text));
    expect(lines.some((args) => args.some((arg) => arg.startsWith("scripted:")) && args.includes("--approve-all"))).toBe(true);
    expect(existsSync(join(place, "main.test.yaml"))).toBe(true);
  });
});

test("all of their tests pass, without a network", () => {
  const { stdout, stderr, status } = llmDo(["test", "examples", "--trust", "--json"]);
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  const { cases } = JSON.parse(stdout) as TestReport;
  expect(cases.filter(({ outcome }) => outcome !== "passed")).toEqual([]);
  expect(new Set(cases.map(({ file }) => dirname(file)))).toEqual(new Set(names.map((name) => join("examples", name))));
}, 120_000);

test("one runs as its README says", () => {
  const line = ["examples/greeter", "Ada", "--model", "scripted:examples/greeter/script.yaml", "--approve-all"];
  expect(llmDo(line)).toMatchObject({ status: 0, stdout: "Good morning, Ada, it is good to see you.\n" });
});

describe("pitchdeck_eval", () => {
  test("without anybody to ask it writes nothing, and says so", () => {
    const { stderr, status } = llmDo(["examples/pitchdeck_eval", "--model", "scripted:examples/pitchdeck_eval/scripted.ts"]);
    expect(status).toBe(4);
    expect(stderr).toContain("3 calls needed approval");
    expect(readdirSync(join(folder, "examples", "pitchdeck_eval", "evaluations"))).toEqual([]);
  }, 60_000);

  test("its decks are what the script makes", () => {
    const { stderr, status } = spawnSync(process.execPath, ["scripts/make-pitchdecks.ts", "--check"], {
      cwd: root,
      encoding: "utf8",
    });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  }, 60_000);
});

describe("pitchdeck_eval_stabilized", () => {
  const place = join(folder, "examples/pitchdeck_eval_stabilized");

  /** Runs one of its workers, and returns its reports and how often it asked its model. */
  function evaluate(worker: string) {
    rmSync(join(place, "output"), { recursive: true, force: true });
    const model = "scripted:examples/pitchdeck_eval_stabilized/scripted.ts";
    const args = [
      `examples/pitchdeck_eval_stabilized/${worker}.worker`,
      "Go",
      "--model",
      model,
      "--approve-all",
      "--trust",
      "--events",
    ];
    const { stdout, stderr, status } = llmDo(args);
    expect(status, stderr).toBe(0);
    const events = `${stdout}${stderr}`.split("\n").filter((line) => line.startsWith("{"));
    const requests = events
      .map((line) => JSON.parse(line))
      .filter(({ type, callPath }) => type === "turn-start" && callPath === worker);
    const reports = join(place, "output");
    return { requests: requests.length, reports: readdirSync(reports).map((name) => readFileSync(join(reports, name), "utf8")) };
  }

  test("takes two requests of its main worker by a program, five without, for the same reports", () => {
    const byCalls = evaluate("main");
    const byProgram = evaluate("by_program");
    expect([byCalls.requests, byProgram.requests]).toEqual([5, 2]);
    expect(byCalls.reports).toHaveLength(3);
    expect(byProgram.reports).toEqual(byCalls.reports);
  }, 60_000);
});

/** Runs the blocks of an example's README that are marked, in their order. `look` is called after each. */
function walk<T>(name: string, look: () => T): readonly { readonly printed: string; readonly seen: T }[] {
  const env = { LLM_DO_STATE_DIR: mkdtempSync(join(folder, "state-")) };
  return readBlocks(readme(join(folder, "examples", name)))
    .filter(({ marks }) => marks.has("walk"))
    .map(({ text, marks }) => {
      const printed = commandLinesOf(text).map((args) => {
        const { stdout, stderr, status } = llmDo(args, env);
        expect({ args, status }, stderr).toEqual({ args, status: Number(marks.get("exit") ?? 0) });
        return `${stdout}${stderr}`;
      });
      return { printed: printed.join(""), seen: look() };
    });
}

test("nightly_triage is suspended, answered, resumed and taken back, as its README says", () => {
  const tickets = join(folder, "examples/nightly_triage/tickets");
  const statuses = () =>
    readdirSync(tickets).map((name) => /^status: (.*)/m.exec(readFileSync(join(tickets, name), "utf8"))?.[1]);
  const after = walk("nightly_triage", statuses).map(({ seen }) => seen);
  const untouched = Array(5).fill("new");
  expect(after).toEqual([untouched, untouched, ["urgent", "wish", "open", "new", "urgent"], untouched]);
}, 60_000);

describe("triage", () => {
  const place = join(folder, "examples/triage");
  const worker = () => readFileSync(join(place, "triage.worker"), "utf8");

  test("goes from prose to code and back by the commands of its README", () => {
    const prose = worker();
    const code = prose.replace("\n---\nYou", "\ncode: tools.ts:sort_message\ncheck: 1\n---\nYou");
    const [asked, compared, refused, moved, drifted, back] = walk("triage", worker);
    expect([asked, compared, refused, moved, drifted, back].map((one) => one?.seen)).toEqual([
      ...[prose, prose, prose],
      ...[code, code, prose],
    ]);
    expect(asked?.printed).toMatch(/cannot go on.* -> \{"kind":"bug","urgent":true\}\n3 calls, 0 by code, \$0\.00\n/s);
    expect(compared?.printed).toMatch(/floor.*\n {2}agrees: 383 of 400,.*\n\ntools\.ts:sort_message\n {2}agrees: 329 of 336,/s);
    expect(compared?.printed).toMatch(/\n {2}64 unsure\n.*\ntools\.ts:sort_roughly\n {2}agrees: 192 of 400,/s);
    expect(refused?.printed).toContain("nothing is written: its agreement may be as low as 35.6 %");
    expect(moved?.printed).toMatch(/itself\)\n {2}agrees: 96 of 100,.*\n\ntools\.ts:sort_message\n {2}agrees: 78 of 79,/s);
    expect(moved?.printed).toMatch(/\n2 calls, 2 by code, \$0\.00\n.*1 passed, 0 failed/s);
    expect(drifted?.printed).toMatch(/^week of \d{4}-\d\d-\d\d {2}2 of 2, 100\.0 % \(95 % interval 34\.2 to 100\.0 %\)\n/);
    expect(back?.printed).toContain("1 passed, 0 failed");
    expect(readFileSync(join(place, "output/list.md"), "utf8")).toBe("1. bug, urgent\n2. question\n3. wish\n");
  }, 120_000);

  test("its recorded calls are what the script makes", () => {
    const path = join(place, "triage.cases.jsonl");
    const shipped = readFileSync(path, "utf8");
    expect(shipped.trimEnd().split("\n")).toHaveLength(400);
    expect(Buffer.byteLength(shipped)).toBeLessThan(200_000);
    expect(spawnSync(process.execPath, [join(place, "make-cases.ts")], { encoding: "utf8" }).stderr).not.toContain("Error");
    expect(readFileSync(path, "utf8")).toBe(shipped);
  });
});

test("the list of examples has each of them", () => {
  const list = readFileSync(join(root, "examples", "README.md"), "utf8");
  expect([...list.matchAll(/\]\((\w+)\/README\.md\)/g)].map(([, name]) => name).sort()).toEqual(names.toSorted());
});

describe("database", () => {
  test.each([
    ["SELECT paid FROM orders WHERE id = 3", "query", "main", "allow"],
    ["UPDATE orders SET paid = 0 WHERE id = 3", "execute", "main", "ask: it changes rows"],
    ["DELETE FROM orders", "execute", "main", "ask: it is for all rows"],
    ["DELETE FROM orders WHERE id = 1", "execute", "auditor.worker", "blocked: this worker only reads"],
  ])("%s is judged", (sql, tool, worker, verdict) => {
    const target = worker === "main" ? "examples/database" : `examples/database/${worker}`;
    const { stdout } = llmDo(["verdict", target, tool, JSON.stringify({ sql, id: "x" }), "--trust"]);
    expect(stdout).toContain(verdict);
  });
});

describe("a change of the database that the end of the process interrupts", () => {
  const line = ["examples/database", "The bucket is paid", "--model", "scripted:examples/database/script.yaml", "--trust"];
  const ids = "SELECT id FROM changes";

  test.each([
    ["is not made again where it was made", false],
    ["is made where it was not", true],
  ])("%s, and nobody is asked", (_, isLost) => {
    const state = mkdtempSync(join(folder, "state-"));
    const file = join(state, "shop.db");
    const env = { LLM_DO_STATE_DIR: state, DATABASE_URL: file };
    const fixture = join(root, "examples/database/fixtures/shop.db");
    cpSync(fixture, file);
    expect(llmDo([...line, "--approve-all"], env)).toMatchObject({ status: 0 });
    const runs = runsIn(realpathSync(join(folder, "examples/database")), state);
    const journal = join(runs, readdirSync(runs).sort()[0] ?? "", "journal.jsonl");
    const lines = readFileSync(journal, "utf8").split("\n");
    const begun = lines.findIndex((text) => text.includes('"type":"intent"') && text.includes("1.execute"));
    expect(begun).toBeGreaterThan(0);
    writeFileSync(journal, `${lines.slice(0, begun + 1).join("\n")}\n`);
    rmSync(join(runs, "index.jsonl"));
    if (isLost) cpSync(fixture, file);
    else expect(rowsOf(file, ids)).toEqual([{ id: "pay-order-3" }]);
    const { stdout, stderr, status } = llmDo(["resume", "last", "examples/database", "--trust", "--headless"], env);
    expect({ stdout, status }, stderr).toEqual({ stdout: "The bucket, order 3, is paid; 12.50 are still open.\n", status: 0 });
    expect(rowsOf(file, ids)).toEqual([{ id: "pay-order-3" }]);
    expect(readFileSync(journal, "utf8")).toContain('{"rows":1}');
  });
});

function rowsOf(file: string, sql: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    return database
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  } finally {
    database.close();
  }
}

function readme(place: string): string {
  return readFileSync(join(place, "README.md"), "utf8");
}

function llmDo(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const { LLM_DO_MODEL: _, ...environment } = process.env;
  const options = {
    cwd: folder,
    encoding: "utf8",
    input: "",
    env: { ...environment, NODE_OPTIONS: "", DATABASE_URL: shop, ...more },
  } as const;
  return spawnSync(process.execPath, [join(root, "bin", "llm-do.js"), ...args], options);
}
