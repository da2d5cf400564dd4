import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Outline } from "../../src/protocol/outline.ts";
import { renderContext } from "../../src/ui/explain/render-context.ts";
import { renderExplanation } from "../../src/ui/explain/render-explanation.ts";
import { compileOn, createMachine, worker } from "../compile/machine.ts";
import { hostileOutline } from "./hostile.ts";
import { outlineOfExample, outlineOfNewsroom, outlineOfShells } from "./programs.ts";

function golden(name: string): string {
  return join(import.meta.dirname, "golden", name);
}

/** Without the digest, which says nothing about the form. */
function textOf(outline: Outline, columns: number): string {
  return renderExplanation(outline, { columns }).replaceAll(outline.ceilingDigest.slice(0, 12), "<digest>");
}

function widest(text: string): number {
  return Math.max(...text.split("\n").map((line) => line.length));
}

describe("the example", () => {
  test("is told on one screen of 80 columns", async () => {
    const text = textOf(await outlineOfExample(), 80);
    await expect(text).toMatchFileSnapshot(golden("pitchdeck_eval-80.txt"));
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
    expect(widest(text)).toBeLessThanOrEqual(80);
  });

  test("says what the models cost, and what all tokens would, still on one screen", async () => {
    const outline = await outlineOfExample();
    const of = new Map(outline.ceiling.models.map((id) => [id, { input: 3, output: 15, highest: 22.5 }]));
    const text = renderExplanation(outline, { columns: 80, prices: { of, date: "2026-09-23" } });
    expect(text).toContain("$3 / $15\n");
    expect(text).toContain("1,000,000 tokens (to $22.50), ");
    expect(text).not.toContain("dollars");
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
    expect(widest(text)).toBeLessThanOrEqual(80);
  });

  test.each([60, 120])("fits %i columns, and says the same", async (columns) => {
    const outline = await outlineOfExample();
    const text = textOf(outline, columns);
    await expect(text).toMatchFileSnapshot(golden(`pitchdeck_eval-${columns}.txt`));
    expect(widest(text)).toBeLessThanOrEqual(columns);
    expect(wordsOf(text)).toEqual(wordsOf(textOf(outline, 80)));
  });

  test("answers what asks, what does not, who reads and writes what, and what bounds its cost", async () => {
    const text = (await outlineOfExample().then((outline) => textOf(outline, 500))).replace(/ {2,}/g, "  ");
    for (const answer of [
      "allowed read_file, list_files, search_files (filesystem): reads in a scope do not ask",
      "asks  write_file, append_file, edit_file (filesystem): writes ask unless their scope says otherwise",
      "allowed pitch_evaluator: `_approval_config` says `pre_approved: true`",
      "main  reads input (scope decks; .pdf; to 5 MB)",
      "reads, writes evaluations (scope reports; .md; to 200 kB)",
      "pitch_evaluator  no files: it has no tools",
      "anthropic:claude-sonnet-4-5  main; pitch_evaluator (by --model)",
      "no limit of dollars or seconds",
      "a run  1,000,000 tokens, depth 5, 8 at once, no limit of dollars or seconds",
      "a call  50 turns; main: 12 turns; pitch_evaluator: 4 turns",
      "sends to  anthropic:claude-sonnet-4-5",
    ])
      expect(text).toContain(answer);
  });
});

test("what takes how much of each first request is listed, the largest first, as the outline has it", async () => {
  const outline = await outlineOfExample();
  const [main] = outline.workers;
  const text = renderContext(outline);
  expect(main?.context.map(({ part }) => part).sort()).toEqual([
    "instructions",
    ...["append_file", "edit_file", "list_files", "pitch_evaluator", "read_file", "search_files", "write_file"].map(
      (name) => `tool ${name}`,
    ),
  ]);
  const total = main?.context.reduce((sum, { tokens }) => sum + tokens, 0).toLocaleString("en-US");
  expect(text).toMatch(
    new RegExp(`^main: about ${total} tokens before its input\n +\\d+ instructions\n +\\d+ tool search_files\n`),
  );
  expect(text).toMatch(/\npitch_evaluator: about (\d+) tokens before its input\n {2}\1 instructions\n$/);
});

describe("programs of the machine", () => {
  test("says who starts them, with what network, and that a run may not begin without a wall", async () => {
    const outline = await outlineOfShells("sandbox: { network_enabled: true, required: true }");
    const text = textOf(outline, 80).replace(/ {2,}/g, "  ");
    expect(text).toContain("Programs of this machine (isolated if it can; else each asks)\n  main  WITH the network\n");
    expect(text).toContain("no run begins where they cannot be isolated (`required`)\n  careful  without network\n");
    expect(text).toContain("network  by programs that main may start\n");
    expect(outline.workers[0]?.commands).toEqual({ networkEnabled: true, isolationRequired: true });
    expect(outline.ceiling.network).toEqual(["main"]);
  });

  test("the network is part of the ceiling", async () => {
    const [without, required, enabled] = await Promise.all(
      ["", "sandbox: { required: true }", "sandbox: { network_enabled: true }"].map((one) => outlineOfShells(one)),
    );
    expect(without?.ceiling).not.toHaveProperty("network");
    expect(required?.ceilingDigest).toBe(without?.ceilingDigest);
    expect(enabled?.ceilingDigest).not.toBe(without?.ceilingDigest);
    const [careful] = (await outlineOfShells("", "sandbox: { network_enabled: true }")).workers.flatMap(({ toolsets }) =>
      toolsets.flatMap(({ beyond }) => beyond ?? []),
    );
    expect(careful).toBe("start programs that use the network");
  });

  test("commands that a called worker can run and its caller cannot are told beside the call", async () => {
    const outline = await outlineOfShells("", "", "shell: { default: { approval_required: false } }");
    const text = textOf(outline, 500);
    expect(text).toContain("can, beyond its caller: run commands: any other command, without a question");
  });
});

describe("what a program takes, and what its shell runs", () => {
  test("is told with the fields and the rules", async () => {
    const main = "input: { company: string, level?(enum): [junior, senior] }\noutput: { score: integer }";
    const text = textOf(await outlineOfShells(main), 100);
    expect(text).toContain(
      "What it takes and gives\n  input   company: string\n          level?: junior or senior\n  output  score: integer\n",
    );
    expect(text).toMatch(/depends shell: .*\n.*rule +ls, after a question unless pre-approved\n/);
  });
});

describe("workers that call one another, code, and scopes elsewhere", () => {
  test.each([60, 80, 120])("at %i columns, trusted", async (columns) => {
    const text = textOf(await outlineOfNewsroom({ trust: true }), columns);
    await expect(text).toMatchFileSnapshot(golden(`newsroom-${columns}.txt`));
    expect(widest(text)).toBeLessThanOrEqual(columns);
  });

  test("untrusted: what was not looked at is marked, and its effects are left open", async () => {
    const text = textOf(await outlineOfNewsroom({ trust: false }), 80);
    await expect(text).toMatchFileSnapshot(golden("newsroom-untrusted-80.txt"));
    expect(text).toContain("NOT VERIFIED");
    expect(text).toContain("unverified review: its code was not looked at");
  });

  test("begins at code, where code is the entry", async () => {
    const text = textOf(await outlineOfNewsroom({ trust: true, entry: "tools.ts:start" }), 80);
    await expect(text).toMatchFileSnapshot(golden("newsroom-code-80.txt"));
  });

  test("tells every worker's tools once, and ends in circles", async () => {
    const outline = await outlineOfNewsroom({ trust: true });
    const text = textOf(outline, 200);
    expect(text.match(/calls itself again/g)).toHaveLength(2);
    for (const { toolsets } of outline.workers)
      for (const { tools } of toolsets) for (const { name } of tools) expect(text).toContain(name);
  });
});

test("limits: what the entry may spend bounds its run; depth and parallel fall to their defaults", async () => {
  const outline = await outlineOfExample();
  const rowsOf = (ofRun: object, ofEntry: object) => {
    const workers = outline.workers.map((one) => (one.id === "main" ? { ...one, limits: ofEntry } : one));
    const text = textOf({ ...outline, limits: ofRun, workers }, 200);
    return text.split("\n").flatMap((line) => /^ {2}a (?:run|call) +(.*)$/.exec(line)?.[1] ?? []);
  };
  expect(rowsOf({}, {})).toEqual([
    "depth 5, 8 at once, no limit of tokens, dollars or seconds",
    "50 turns; pitch_evaluator: 4 turns",
  ]);
  expect(rowsOf({ tokens: 10, turns: 3 }, { tokens: 5, seconds: 9, depth: 2, turns: 7 })).toEqual([
    "5 tokens, 9 seconds, depth 2, 8 at once, no limit of dollars",
    "3 turns; main: 3 turns; pitch_evaluator: 3 turns",
  ]);
  expect(rowsOf({ depth: 9, parallel: 1 }, { depth: 2, parallel: 4, tool_calls: 1 })[0]).toBe(
    "1 tool call, depth 2, 1 at once, no limit of tokens, dollars or seconds",
  );
});

test("the defaults that are told are those of a run", async () => {
  const read = (file: string) => readFile(join(import.meta.dirname, "../../src", file), "utf8");
  expect(await read("runtime/create-config.ts")).toContain("defaultLimits = { depth: 5, parallel: 8 }");
  expect(await read("program/program.ts")).toContain("defaultTurns = 50;");
});

describe("texts of a program", () => {
  test.each([20, 60, 80, 120])("are shown, and never obeyed, at %i columns", (columns) => {
    const text = textOf(hostileOutline, columns);
    expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    expect(text).toContain("\\u{1B}");
    for (const line of text.split("\n")) expect(line).not.toMatch(/^Ceiling of nothing/);
  });

  test("are in ASCII where the program's are", async () => {
    for (const outline of [await outlineOfExample(), await outlineOfNewsroom({ trust: true }), hostileOutline])
      expect(textOf(outline, 80)).not.toMatch(/[^\n\x20-\x7e]/);
  });
});

/** Words as they are told, whatever stands around them to draw the tree. */
function wordsOf(text: string): string[] {
  return text.split(/[\s|`-]+/).filter((word) => word !== "");
}

test.each([
  ["toolsets: { delegation: { allow_workers: [helper] } }", "hands on files of the program's folder"],
  ["toolsets: { helper: {} }", "hands on files of the program's folder"],
  ["toolsets: { filesystem: {}, delegation: { allow_workers: [helper] } }", "reads, writes the program's folder"],
])("tells apart workers that use files and those that pass them on: %s", async (main, expected) => {
  const files = { "main.worker": worker(`description: m\n${main}`), "helper.worker": worker("description: h") };
  const { outline } = await compileOn(createMachine({ files }));
  expect(outline && renderExplanation(outline, { columns: 100 })).toContain(`  main    ${expected}`);
});
