import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { replayFacts } from "../../src/front/replay.ts";
import { undoRun } from "../../src/front/undo.ts";
import { nodeClock } from "../../src/host/node-clock.ts";
import { compile, run, tool } from "../../src/index.ts";
import { expandTexts } from "../../src/journal/expand-texts.ts";
import { factFields } from "../../src/journal/fact-fields.ts";
import { UnreadableJournal } from "../../src/journal/unreadable-journal.ts";
import type { Program } from "../../src/program/program.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { type MemoryHost, memoryHost } from "../../src/testing/memory-host.ts";
import { renderPage } from "../../src/ui/page/render-page.ts";
import { listRun } from "../../src/ui/records/list-run.ts";
import { renderCosts } from "../../src/ui/records/render-costs.ts";
import { renderJournal, summarizeJournal } from "../../src/ui/records/render-journal.ts";
import { renderMessages } from "../../src/ui/records/render-messages.ts";
import { environmentSecrets } from "../../src/util/secrets/redactor.ts";
import { placeOf, readJournal, readJournalEnds, readRecord, runsIn } from "../records.ts";

const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 250);
const seed = Number(process.env["LLM_DO_FUZZ_SEED"] ?? 20_261_122);
const token = `ghp_${"aB3d".repeat(9)}`;
const environment = { API_KEY: "a-key-that-is-long" };

interface Recorded {
  readonly host: MemoryHost;
  readonly program: Program;
  readonly directory: string;
  /** The files of the run and of its private folder, by their paths. */
  readonly files: Readonly<Record<string, string>>;
}

/** A run with facts of every type: workers, code that calls, questions, a denial, a refusal, a limit, secrets, files, a result that is cut and dropped. */
async function record(): Promise<Recorded> {
  const host = memoryHost({
    environment,
    files: {
      "/program/main.worker":
        "---\ndescription: d\nlimits: { tool_calls: 9 }\ncontext: { max_result: 8500, window: 1000 }\ntoolsets:\n  filesystem: {}\n  look: {}\n  pass: {}\n  helper: {}\nsandbox:\n  paths: { out: { root: ./out, mode: rw } }\n---\nGo.\n",
      "/program/helper.worker": "---\ndescription: h\n---\nHelp.\n",
      "/program/tools.ts": "export const look = 0;\nexport const pass = 0;\n",
    },
    modules: {
      "/program/tools.ts": {
        look: tool({
          input: { type: "object" },
          approval: "pre-approved",
          run: () => `${token} ${environment.API_KEY} ${"x".repeat(9000)}`,
        }),
        pass: tool({
          input: { type: "object" },
          approval: "pre-approved",
          calls: ["helper"],
          run: (_, { call }) => call("helper", { input: "p" }).catch(String),
        }),
      },
    },
  });
  const model = scriptedModel(({ turn, worker }) => {
    if (worker === "helper") return "helped";
    if (turn > 3) return { text: `done with ${token}`, files: [{ name: "made.txt", mediaType: "text/plain", text: "made" }] };
    const write = (path: string) => ({ tool: "write_file", args: { path, content: "x" } });
    if (turn === 2) return { calls: [write("out/c.txt")] };
    if (turn === 3) return { calls: Array.from({ length: 9 }, () => ({ tool: "look", args: {} })) };
    return {
      calls: [
        { tool: "look", args: {} },
        { tool: "pass", args: {} },
        write("out/a.txt"),
        write("out/b.txt"),
        write("nowhere/a.txt"),
        { tool: "helper", args: { input: "h" } },
      ],
    };
  }, "test:model");
  const provider = { name: "test", description: "for tests", keyVariables: [], create: async () => model };
  const source = { target: "/program", host, trust: true, model: "test:model", providers: [provider] };
  const { program, diagnostics } = await compile({ ...source, toRun: true });
  if (!program) throw new Error(`the program of this test does not compile: ${JSON.stringify(diagnostics)}`);
  let asked = 0;
  const bytes = Buffer.from(`key: ${token}`);
  await run({
    ...source,
    input: "go",
    attachments: [
      { name: "a.txt", bytes },
      { name: "b.txt", bytes: Buffer.from("plain") },
    ],
    approval: {
      mode: "prompt",
      approver: async (_, { memory }) => {
        if (asked === 3) for (const call of memory.list()) memory.revoke(call);
        return asked++ % 2 ? { type: "deny", note: "no" } : { type: "approve", remember: "run" };
      },
    },
  });
  const [id = ""] = await host.files.names(runsIn("/program"));
  const directory = `${runsIn("/program")}/${id}`;
  const files = host.snapshot(directory);
  return { host, program, directory, files };
}

let recorded: Recorded;
beforeAll(async () => {
  recorded = await record();
});

/** A way to damage a text, by numbers that are taken modulo what there is. */
interface Damage {
  readonly kind: "delete a field" | "change a type" | "cut a line" | "remove a line" | "remove a file" | "change a file";
  readonly line: number;
  readonly field: number;
  readonly value: number;
}

const damage = fc.record({
  kind: fc.constantFrom<Damage["kind"]>(
    "delete a field",
    "change a type",
    "cut a line",
    "remove a line",
    "remove a file",
    "change a file",
  ),
  line: fc.nat(),
  field: fc.nat(),
  value: fc.nat(),
});

const others: readonly unknown[] = [null, 7, "x", true, {}, [], [null], { $blob: "x" }, { $private: "x" }, { $blob: 1 }];

function apply(files: Readonly<Record<string, string>>, { kind, line, field, value }: Damage): Record<string, string> {
  const changed = { ...files };
  const names = Object.keys(files).sort();
  const journals = names.filter((name) => name.endsWith(".jsonl"));
  const path = (kind.endsWith("file") ? names : journals).at(value % (kind.endsWith("file") ? names : journals).length) ?? "";
  const lines = (files[path] ?? "").split("\n").slice(0, -1);
  const at = line % lines.length;
  if (kind === "remove a file") delete changed[path];
  else if (kind === "change a file") changed[path] = (files[path] ?? "").slice(0, field % 200);
  else if (kind === "cut a line")
    changed[path] = lines.with(at, (lines[at] ?? "").slice(0, field % (lines[at] ?? "").length)).join("\n");
  else if (kind === "remove a line") changed[path] = `${lines.toSpliced(at, 1).join("\n")}\n`;
  else changed[path] = `${lines.with(at, damageLine(lines[at] ?? "", { kind, field, value })).join("\n")}\n`;
  return changed;
}

function damageLine(line: string, { kind, field, value }: Pick<Damage, "kind" | "field" | "value">): string {
  const entry: unknown = JSON.parse(line);
  const places = [...membersOf(entry)];
  const [holder, key] = places[field % places.length] ?? [{}, ""];
  if (kind === "change a type") holder[key] = others[value % others.length];
  else if (Array.isArray(holder)) holder.splice(Number(key), 1);
  else delete holder[key];
  return JSON.stringify(entry);
}

function* membersOf(value: unknown): Iterable<readonly [holder: Record<string, unknown>, key: string]> {
  if (typeof value !== "object" || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    yield [value as Record<string, unknown>, key];
    yield* membersOf(member);
  }
}

/** Messages of our own code for values that it does not expect. */
const slip =
  /Cannot (?:read|convert|destructure|set)|is not (?:a function|iterable|defined)|undefined \(reading|Invalid (?:time|array)/;

async function expectLocated(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return await work();
  } catch (thrown) {
    expect(thrown).toSatisfy(
      (error: unknown) => error instanceof UnreadableJournal || /ENOENT|nothing is recorded/.test(String(error)),
    );
    expect(String(thrown)).not.toMatch(slip);
    return undefined;
  }
}

async function playDamaged(files: Readonly<Record<string, string>>): Promise<void> {
  const { host, program, directory } = recorded;
  await host.files.remove(directory);
  for (const [path, text] of Object.entries(files)) host.put(path, text);
  for (const view of views) await expectLocated(async () => expect(await view(host, directory)).not.toMatch(slip));
  await expectLocated(async () => expect(summarizeJournal(await readJournalEnds(host, directory))).not.toMatch(slip));
  await expectLocated(async () => {
    const read = await readRecord(host, directory, environmentSecrets(environment));
    const report = await replayFacts(program, { host: { environment, clock: impatientClock }, ...read });
    expect(report.error?.message ?? "").not.toMatch(slip);
  });
}

/** All that shows a run by its entries. */
const views: readonly ((host: MemoryHost, directory: string) => Promise<string>)[] = [
  async (host, directory) => renderJournal(await readJournal(host, directory), 80),
  async (host, directory) => renderCosts((await readJournal(host, directory)).entries),
  async (host, directory) => {
    const { entries } = await readJournal(host, directory);
    return renderMessages(await expandTexts(await placeOf(host, directory), { entries, longest: 1000, total: 10_000 }));
  },
  async (host, directory) => renderPage(await readJournal(host, directory)) ?? "",
  async (host, directory) => JSON.stringify(listRun(await readJournalEnds(host, directory))),
  async (host, directory) => JSON.stringify((await undoRun(host, { directory, confirm: () => false })).lasting),
];

const impatientClock = { ...nodeClock, sleep: async () => new Promise<void>((resolve) => setImmediate(resolve)) };

describe("a journal that is damaged", () => {
  test("is read, listed, shown and replayed where it is whole", async () => {
    const { host, program, directory } = recorded;
    const read = await readRecord(host, directory, environmentSecrets(environment));
    const report = await replayFacts(program, { host: { environment, clock: nodeClock }, ...read });
    expect({ same: report.same, isWhole: read.isWhole }).toEqual({ same: true, isWhole: true });
    const { entries } = await readJournal(host, directory);
    const { first, last } = await readJournalEnds(host, directory);
    expect([first, last]).toEqual([entries[0], entries.at(-1)]);
    expect([...new Set(entries.map(({ type }) => type))].sort()).toEqual(
      // Attempts and answers stand in the journal of a run that was resumed, aborts in that of one in which a call failed, a worker in that of one that created it, checks in that of one that has code, an undo in that of one that was taken back.
      Object.keys(factFields)
        .filter((type) => !["attempt", "abort", "answer", "checked", "worker", "undo"].includes(type))
        .sort(),
    );
  });

  test("shows all but its damaged entry, with the place of that", async () => {
    const { host, directory, files } = recorded;
    const path = `${directory}/journal.jsonl`;
    const damaged = (files[path] ?? "").replace(/^(.*"type":"run-end",).*$/m, '$1"x":{}}');
    host.put(path, damaged);
    const { entries, problems, unchecked } = await readJournal(host, directory);
    expect(problems.size).toBe(1);
    expect(unchecked.length).toBe(entries.length + 1);
    const [[n, problem] = [-1, ""]] = problems;
    expect(entries.some((entry) => entry.n === n)).toBe(false);
    expect(await views[0]?.(host, directory)).toContain(`(entry ${n}: the field`);
    for (const view of [renderCosts, renderMessages]) expect(view(entries)).toBe(view(unchecked));
    expect(renderPage({ entries, problems, torn: false })).toContain("1 entry of its journal cannot be read");
    await expect(readJournalEnds(host, directory)).rejects.toThrow(problem);
    await expect(readRecord(host, directory)).rejects.toThrow(`journal.jsonl:${n + 1}`);
  });

  test("is refused with the place of the damage, or read: never a slip of ours", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 2 }), async (damages) => {
        await playDamaged(damages.reduce((files, one) => safely(files, one), recorded.files as Record<string, string>));
      }),
      { numRuns: runs, seed },
    );
  });
});

/** A second damage can meet a text that the first one made unreadable: it stays then. */
function safely(files: Readonly<Record<string, string>>, one: Damage): Record<string, string> {
  try {
    return apply(files, one);
  } catch {
    return { ...files };
  }
}
