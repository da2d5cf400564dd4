import * as fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { noWall } from "../../host/command-bench.ts";
import { seed } from "../../host/seeded.ts";
import { readLinesWithEffects } from "./lines.ts";
import { createStage, type Stage } from "./play-line.ts";
import { createProject, type Project } from "./project.ts";
import { changesBetween, readTree, restoreTree } from "./tree.ts";

/*
 * Real programs do their work with the effects that the documentation names for them, and change nothing without. A program that is not
 * installed is not run, and said so; `LLM_DO_PACKAGES` names a folder `node_modules` with more of them.
 */

const all = readLinesWithEffects("programs.txt");
const isWhole = process.env["LLM_DO_LINES"] === "all";
const count = Math.min(all.length, Number(process.env["LLM_DO_LINES"] ?? 10));
const chosen = isWhole
  ? all
  : fc.sample(fc.shuffledSubarray([...all], { minLength: count, maxLength: count }), { numRuns: 1, seed: Number(seed) })[0];

let project: Project;
let stage: Stage;
beforeAll(async () => {
  if (noWall !== "") return;
  project = createProject();
  stage = await createStage(project, { rules: [], default: { approval_required: true } });
});
afterAll(async () => {
  await stage?.close();
  project?.remove();
});

const missing =
  /command not found|could not determine executable|No module named|is not a git command|canceled due to missing|ENOTCACHED|EAI_AGAIN|unrecognized arguments: --cov/;

test.skipIf(noWall !== "")(
  "programs do their work with the effects that they need",
  async () => {
    const notRun: string[] = [];
    const failed: string[] = [];
    for (const { command, ...effects } of chosen ?? []) {
      const before = readTree(project.root);
      const { result, refused } = await stage.play({ command, timeout: 60, writes: [], ...effects }, "approve");
      const told = `${result?.["stdout"]}\n${result?.["stderr"]}`;
      const changed = changesBetween(before, readTree(project.root, before));
      restoreTree(project.root, before, changed);
      if (missing.test(told)) notRun.push(command);
      else if (result?.["exit_code"] !== 0) failed.push(`${command}: ${refused ?? told.slice(-600)}`);
      else if (effects.writes === undefined && changed.length > 0) failed.push(`${command} changed ${changed}`);
      else if (effects.writes !== undefined && changed.length === 0) failed.push(`${command} changed nothing`);
    }
    process.stderr.write(`${chosen?.length} lines of real programs, ${notRun.length} not run: ${notRun.join("; ")}\n`);
    expect(failed).toEqual([]);
  },
  900_000,
);
