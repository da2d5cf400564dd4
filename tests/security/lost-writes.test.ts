import { type ChildProcess, fork } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { approveAll, attack, outcome, World, worker } from "./world.ts";

const program = worker(`
limits: { turns: 1000 }
sandbox: { paths: { s: { root: ./in, mode: rw } } }
toolsets: { filesystem: {} }
`);

interface Report {
  readonly line: string;
  /** Outcomes of the append and the edit. */
  readonly outcomes: readonly [string, string];
}

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
});

/** Starts a run in a process of its own; gives what it reported when it has ended, or was killed after some reports. */
function startWriter(world: World, name: string, { turns = 20, killAfter = Number.POSITIVE_INFINITY } = {}): Promise<Report[]> {
  const script = join(import.meta.dirname, "fixtures/run-writer.js");
  const child = fork(script, [world.at("program"), name, String(turns)], { execArgv: [], silent: true });
  children.push(child);
  const reports: Report[] = [];
  child.on("message", (report: Report) => {
    reports.push(report);
    if (reports.length === killAfter) child.kill("SIGKILL");
  });
  return new Promise((resolve) => child.once("close", () => resolve(reports)));
}

/** Every line that was said to be written is there, once. */
function expectKept(world: World, reports: readonly Report[]): void {
  const kept = (file: string) => world.read(`program/in/${file}`).trim().split("\n").toSorted();
  const said = (index: 0 | 1) => reports.filter(({ outcomes }) => outcomes[index] === "ok").map(({ line }) => line);
  expect(kept("log")).toEqual(expect.arrayContaining(said(0)));
  expect(kept("list")).toEqual(expect.arrayContaining(said(1)));
  for (const file of ["log", "list"]) expect(new Set(kept(file)).size).toBe(kept(file).length);
}

const files = { "main.worker": program, "in/list": "START\n" };

describe("runs that write the same files", () => {
  test("keep each append and edit of several processes, or report `changed`", async () => {
    const world = new World(files);
    const reports = (await Promise.all(["a", "b", "c", "d"].map((name) => startWriter(world, name)))).flat();
    expect(reports).toHaveLength(80);
    expect(new Set(reports.map(({ outcomes }) => outcomes[0]))).toEqual(new Set(["ok"]));
    expect(reports.filter(({ outcomes }) => !["ok", "changed"].includes(outcomes[1]))).toEqual([]);
    expect(world.read("program/in/log").trim().split("\n")).toHaveLength(80);
    expectKept(world, reports);
    expect(readdirSync(world.at("program/in")).sort()).toEqual(["list", "log"]);
  });

  test("go on where others are killed, and leave nothing beside the files", async () => {
    const world = new World(files);
    const killed = ["a", "b", "c"].map((name, index) => startWriter(world, name, { killAfter: 3 + 2 * index }));
    const reports = (await Promise.all([...killed, startWriter(world, "d")])).flat();
    expect(reports.filter(({ line }) => line.startsWith("d-")).map(({ outcomes }) => outcomes[0])).toEqual(Array(20).fill("ok"));
    expectKept(world, reports);
    await (await createNodeHost().openScopes([{ name: "s", root: world.at("program/in"), mode: "rw" }])).close();
    expect(readdirSync(world.at("program/in")).sort()).toEqual(["list", "log"]);
  });

  test("keep each append and edit of one process, or report `changed`", async () => {
    const world = new World(files);
    const start = async (name: string) => {
      const turns = Array.from({ length: 40 }, (_, n) => [
        { tool: "append_file", args: { path: "s/log", content: `${name}-${n}\n` } },
        { tool: "edit_file", args: { path: "s/list", old_text: "START\n", new_text: `START\n${name}-${n}\n` } },
      ]);
      const { results } = await attack(world, { model: turns, approval: approveAll });
      const outcomes = results.map(outcome);
      return turns.map(
        (_, n): Report => ({ line: `${name}-${n}`, outcomes: [outcomes[2 * n] ?? "", outcomes[2 * n + 1] ?? ""] }),
      );
    };
    const reports = (await Promise.all(["a", "b", "c"].map(start))).flat();
    expect(new Set(reports.map(({ outcomes }) => outcomes[0]))).toEqual(new Set(["ok"]));
    expect(reports.some(({ outcomes }) => outcomes[1] === "ok")).toBe(true);
    expectKept(world, reports);
  });
});
