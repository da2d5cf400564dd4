import { expect, test } from "vitest";
import type { ApprovalRequest } from "../../src/index.ts";
import { expandTexts } from "../../src/journal/expand-texts.ts";
import type { JournalEntry } from "../../src/protocol/fact.ts";
import { foldJournal } from "../../src/ui/page/page-run.ts";
import { renderPage } from "../../src/ui/page/render-page.ts";
import { createRunView, foldEvent } from "../../src/ui/run-view.ts";
import { placeOf, readJournal, runsIn } from "../records.ts";
import { play, worker } from "./harness.ts";
import { attempt, createWorld } from "./killable.ts";

const none = new Map<number, string>();

function pageOf(entries: readonly JournalEntry[]): string {
  return renderPage({ entries, problems: none, torn: false }) ?? "";
}

const write = (path: string, content = "new\n") => ({ tool: "write_file", args: { path, content } });
const edit = { tool: "edit_file", args: { path: "a.txt", old_text: "old", new_text: "new" } };

async function decide({ tool, args }: ApprovalRequest) {
  if (tool === "edit_file") return { type: "approve" as const };
  return args["path"] === "b.txt"
    ? { type: "deny" as const, note: "not <b>" }
    : { type: "approve" as const, args: { ...args, content: "edited\n" } };
}

test("shows calls, questions and results as they were, and folds a journal as the events of its run", async () => {
  const { result, events, journal } = await play({
    files: {
      "main.worker": worker("toolsets: { filesystem: {}, helper: {} }"),
      "helper.worker": worker("toolsets: { filesystem: {} }", "Help."),
      "a.txt": "old\n",
    },
    model: ({ system, turn }) => {
      if (system[0] === "Help.") return turn === 1 ? { calls: [edit] } : "helped";
      if (turn > 1) return "done";
      return {
        calls: [
          { tool: "helper", args: { input: "x" } },
          write("b.txt"),
          write("c.txt"),
          { tool: "read_file", args: { path: "gone.md" } },
        ],
      };
    },
    approval: {
      mode: "prompt",
      approver: async (request) => (request.tool === "helper" ? { type: "approve" } : decide(request)),
    },
    request: { input: "go" },
  });

  expect(result?.output).toBe("done");
  const view = createRunView();
  const cards = events.flatMap((event) => foldEvent(view, event)).flatMap((one) => (one.type === "card" ? [one.card] : []));
  const run = foldJournal(journal, none);
  const ends = ({ path, kind, result }: Pick<(typeof cards)[number], "path" | "kind" | "result">) =>
    `${path} ${kind} ${result.ok || result.error.type}`;
  const settled = run?.calls.flatMap(({ result, ...call }) => (result ? [{ ...call, result }] : [])) ?? [];
  expect(settled.map(ends).sort()).toEqual(cards.map(ends).sort());
  expect(run?.usage).toEqual(view.usage);
  expect(run?.damaged).toEqual([]);
  expect(run?.decisions.map(({ call, decision, source }) => `${call.path} ${decision?.type} by ${source}`).sort()).toEqual([
    "main/0.helper approve by person",
    "main/0.helper/0.edit_file approve by person",
    "main/1.write_file deny by person",
    "main/2.write_file approve by person",
    "main/2.write_file approve by person",
  ]);
  const page = pageOf(journal);
  expect(page).toContain('<span class="del">-old\n</span><span class="add">+new\n</span>');
  expect(page).toContain('<b class="denied">denied by a person: not &lt;b&gt;</b>');
  expect(page).toContain("edited arguments");
  expect(page).toContain("not_found");
  expect(page).not.toContain("⟦");
});

test("says what an attempt did not count, and under which terms it went on", async () => {
  const files = { "main.worker": worker("toolsets: { filesystem: {} }"), "a.txt": "a" };
  const program = {
    files,
    tools: () => ({}),
    model: ({ turn }: { readonly turn: number }) =>
      turn <= 2 ? { calls: [{ tool: "read_file", args: { path: "a.txt" } }] } : "the end",
    approval: () => ({ mode: "prompt" as const }),
    input: "go",
  };
  const world = createWorld(files);
  await attempt(world, program, undefined, { limits: { turns: 2 } });
  await attempt(world, program, undefined, { limits: { turns: 10 } });
  const runs = runsIn("/program");
  const [runId = ""] = await world.memory.files.names(runs);
  const { entries } = await readJournal(world.memory, `${runs}/${runId}`);
  const page = pageOf(entries);
  expect(page).toContain("limit of turns: 2 before, 10 now");
  expect(page).toContain("did not count: main: its end (limit)");
  expect(page).toContain('<span class="badge done">done</span>');
  expect(page).toContain("the end");
});

test("says what a run is a fork of, what it did not pay for, and what was taken back", async () => {
  const { journal } = await play({
    files: { "main.worker": worker("toolsets: { filesystem: {} }"), "a.txt": "a" },
    model: ({ turn }) => (turn === 1 ? { calls: [{ tool: "read_file", args: { path: "a.txt" } }] } : "done"),
    request: { input: "go" },
  });
  const forked = journal.map((entry) => {
    if (entry.type === "run-start") return { ...entry, forkOf: "20260101-000000-abcdef" };
    return entry.type === "result" && entry.key === "model 1.1" ? { ...entry, shared: true } : entry;
  });
  const undo = { type: "undo", restored: ["b.txt"], removed: [], left: ["c.txt"] } as const;
  const page = pageOf([...forked, { v: 2, n: journal.length, time: 0, ...undo }]);
  expect(page).toContain("<dt>Fork of</dt><dd>20260101-000000-abcdef</dd>");
  expect(page.match(/recorded in the run that this one is a fork of/g)).toHaveLength(1);
  expect(page).toContain("What it wrote was taken back: b.txt restored; c.txt could not be taken back");
  expect(page).toContain('<span class="badge done">done</span>');
});

test("puts the beginning of long texts in, and says what is left out", async () => {
  const { memory } = createWorld({});
  const digest = "a".repeat(64);
  await memory.files.makeDirectory("/runs/r/blobs");
  await memory.files.writeAtomically(`/runs/r/blobs/${digest}`, `${"é".repeat(600)}`);
  const reference = (name: string) => ({ $blob: name, bytes: 1200 });
  const texts = { a: reference(digest), b: reference("../../secret"), c: { $private: "x", bytes: 3 } };
  const file = { type: "file", data: reference(digest), name: "f" };
  const entry = { v: 2, n: 0, time: 0, type: "cut", shown: texts, file } as unknown as JournalEntry;
  const [shown] = await expandTexts(await placeOf(memory, "/runs/r"), { entries: [entry], longest: 1001, total: 5000 });
  expect(shown).toMatchObject({
    shown: {
      a: `${"é".repeat(500)}\n(cut: 1200 bytes in all)`,
      b: "(1200 bytes, which are gone)",
      c: "(kept with the run's secrets)",
    },
    file: { data: "" },
  });
});

test("shows tables of Markdown as tables, the result first, and at least for a sum that leaves something out", async () => {
  const table = "All:\n\n| city | kind |\n|---|---|\n| Rome | <b> |\n\n- done";
  const { journal } = await play({
    files: { "main.worker": worker("toolsets: { filesystem: {} }") },
    model: ({ turn }) => (turn === 1 ? { calls: [write("c.txt")] } : table),
    approval: { mode: "approve_all" },
    request: { input: "go" },
  });
  const page = pageOf(
    journal.map((entry) =>
      entry.type === "run-end" ? { ...entry, usage: { ...entry.usage, usd: 0.5, usdAtLeast: true } } : entry,
    ),
  );
  expect(page).toContain("<thead><tr><th>city</th><th>kind</th></tr></thead><tbody><tr><td>Rome</td><td>&lt;b&gt;</td></tr>");
  expect(page).toContain("- done");
  expect(page).toContain("at least $0.50");
  expect(page.indexOf('id="result"')).toBeLessThan(page.indexOf('id="approvals"'));
});

/** The entries of a run with many calls of long results: `megabytes` of them, which share their texts. */
function longJournal(megabytes: number): readonly JournalEntry[] {
  const text = "a long result <b> ".repeat(450);
  const start = {
    ...{ type: "run-start", runId: "r", program: "p", entry: "main", mode: "prompt", onDenied: "return", version: "0" },
    ...{ programDigest: "d", limits: {}, input: { input: {}, files: [], fragments: [] } },
  };
  const calls = Array.from({ length: Math.ceil((megabytes * 1_000_000) / text.length) }, (_, index) => {
    const callPath = `main/${index}.read_file`;
    const verdict = { type: "verdict", callPath, key: "1", tool: "read_file", args: { path: "a" }, verdict: { type: "allowed" } };
    const outcome = { type: "value", value: { ok: true, value: text } };
    return [verdict, { type: "result", callPath, key: "tool", kind: "tool", outcome }];
  });
  const call = { type: "call-start", callPath: "main", kind: "worker", name: "main", input: start.input };
  return [start, call, ...calls.flat()].map((entry, n) => ({ v: 2, n, time: n, ...entry }) as unknown as JournalEntry);
}

test("a journal of 100 MB makes a page of bounded size, which says what it leaves out", () => {
  const page = pageOf(longJournal(100));
  expect(page.length).toBeLessThan(8_000_000);
  expect(page).toContain("cut: 8,100 characters in all");
  expect(page).toMatch(/10,\d{3} more calls are not shown/);
});
