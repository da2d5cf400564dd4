import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import type { ShellConfig } from "../../src/toolsets/shell/config.ts";
import { loadCommandParser } from "../../src/toolsets/shell/parse/parse-command.ts";
import { coversCommand, parsePattern } from "../../src/toolsets/shell/patterns.ts";
import { bash, Machine } from "./machine.ts";
import { noise, script } from "./random-scripts.ts";
import { allow } from "./rule-sets.ts";
import { createBench, nameOf } from "./shell-bench.ts";

const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 60);
const machine = new Machine();
afterAll(() => machine.remove());

const rules = allow("ls, cat, git log, echo, grep, head, sort, wc, true, npm run test:*, cd, timeout, bash, sh, nice");
const config: ShellConfig = { rules };
const names = "ls cat git grep head sort wc npm timeout nice rm touch evil find xargs env true".split(" ");

/** Programs that only tell how they were started. */
function setUp(): Record<string, string> {
  const stub = '#!/bin/bash\nprintf \'%s\\0\' "${0##*/}" "$@" > "$STARTED/$$.$RANDOM$RANDOM"\n';
  for (const name of names) machine.put(`bin/${name}`, stub, 0o755);
  const shell = '#!/bin/bash\nprintf \'%s\\0\' "${0##*/}" "$@" > "$STARTED/$$.$RANDOM$RANDOM"\nexec /bin/NAME "$@"\n';
  for (const name of ["bash", "sh"]) machine.put(`bin/${name}`, shell.replace("NAME", name), 0o755);
  for (const name of ["a", "b.ts", "sub/a", "x"]) machine.put(`work/${name}`, "x\n");
  machine.put("started/.keep", "");
  return {
    PATH: join(machine.root, "bin"),
    STARTED: join(machine.root, "started"),
    HOME: join(machine.root, "home"),
    LANG: "C.UTF-8",
    x: "a b",
  };
}

function takeStarted(): readonly (readonly string[])[] {
  const folder = join(machine.root, "started");
  return readdirSync(folder)
    .filter((name) => name !== ".keep")
    .map((name) => {
      const argv = readFileSync(join(folder, name), "utf8").split("\0").slice(0, -1);
      rmSync(join(folder, name));
      return argv;
    });
}

function isCovered(argv: readonly string[]): boolean {
  const words = argv.map((value) => ({ kind: "static" as const, value, head: value, print: value }));
  return rules.some(({ pattern }) => coversCommand(parsePattern(pattern), words));
}

const sorted = (started: readonly (readonly string[])[]) => started.map((argv) => JSON.stringify(argv)).sort();

describe("any text", () => {
  test("is judged without an error, in a short time", async () => {
    const bench = await createBench({ rules: allow("*") });
    let longest = 0;
    for (const text of [
      ...fc.sample(noise, { numRuns: runs * 4, seed: 1 }),
      ...fc.sample(script, { numRuns: runs * 2, seed: 2 }),
    ]) {
      if (text === "") continue;
      const start = performance.now();
      const verdict = await bench.judge({ command: text });
      longest = Math.max(longest, performance.now() - start);
      expect(["allowed", "ask", "ask-default", "ask-effects", "blocked"]).toContain(nameOf(verdict));
    }
    expect(longest).toBeLessThan(3000);
  }, 120_000);

  test("of the greatest length is judged in a short time", async () => {
    const bench = await createBench({ rules: allow("* a * b * c, *") });
    const shapes = [
      ..."(¦$(¦`¦${x:-¦\"$(¦$((¦<(¦a;¦a|¦{a,¦[[ ¦if ¦case x in ¦<<E\n¦'¦\"¦\\¦$'¦*¦((¦f(){ ¦a&&¦!¦time ¦=(¦@(¦a[¦\\`".split("¦"),
      ..."a,¦-a/¦../¦a ¦$x ¦a* ¦cd a;¦cd a&&¦nice ¦find . -exec ¦bash -c ¦bash -c 'a' ".split("¦"),
    ];
    for (const command of shapes.flatMap((shape) => [shape, `ls ${shape}`, `x ${shape}`].map((text) => grow(text, shape)))) {
      const start = performance.now();
      await bench.judge({ command });
      expect(performance.now() - start, command.slice(0, 40)).toBeLessThan(3000);
    }
  }, 60_000);

  test("is read the same way twice", async () => {
    const parse = await loadCommandParser();
    for (const text of fc.sample(script, { numRuns: runs, seed: 3 })) {
      const first = parse(text, [[]]);
      if (first.script === undefined) continue;
      // The text as it is written anew means the same, and is its own form.
      expect(parse(first.script, [[]]).script, text).toBe(first.script);
    }
  });
});

function grow(text: string, shape: string): string {
  return text + shape.repeat(Math.floor((9_999 - text.length) / shape.length));
}

describe("what is allowed", () => {
  test("starts only what a rule covers, and writes nothing", async () => {
    const environment = setUp();
    const before = JSON.stringify(machine.snapshot());
    const bench = await createBench(config);
    let allowed = 0;
    let started = 0;
    for (const text of fc.sample(script, { numRuns: runs * 3, seed: 4 })) {
      const { work, ...call } = await bench.prepare({ command: text });
      const verdict = bench.toolset.needsApproval?.({ ...call });
      if (verdict?.type !== "pre-approved") continue;
      allowed++;
      const argv = work.request.type === "argv" ? work.request.argv : [...bash, work.request.script];
      await machine.run(["/usr/bin/env", ...argv], { cwd: "work", environment });
      const programs = takeStarted();
      const ours = programs.filter((one) => !(one[0] === "bash" && one.includes("--noprofile")));
      started += ours.length;
      for (const one of ours) expect(isCovered(one), `${JSON.stringify(one)} of ${text}`).toBe(true);
      expect(JSON.stringify(machine.snapshot()), text).toBe(before);
      // The same programs, had bash run the text as it stands. Inner scripts were rewritten.
      if (text.includes("bash -c") || text.includes("sh -c")) continue;
      await machine.run(["/bin/bash", ...bash.slice(1), text], { cwd: "work", environment });
      expect(sorted(takeStarted()), text).toEqual(sorted(ours));
    }
    expect(allowed).toBeGreaterThan(runs / 5);
    expect(started).toBeGreaterThan(runs / 5);
  }, 600_000);
});
