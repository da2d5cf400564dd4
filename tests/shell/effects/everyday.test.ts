import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import type { ShellConfig } from "../../../src/toolsets/shell/config.ts";
import { noWall } from "../../host/command-bench.ts";
import { readLinesWithEffects } from "./lines.ts";
import { createStage, type Effects, type Stage } from "./play-line.ts";
import { createPlayground, type Playground } from "./playground.ts";
import { createProject, type Project } from "./project.ts";
import { changesBetween, readTree, restoreTree } from "./tree.ts";

/* Everyday lines under the rules that `init` writes for them. */

const manifest = readFileSync(join(import.meta.dirname, "../../../templates/commands/llm-do.yaml"), "utf8");
const { _use, ...config } = parse(manifest).toolsets.commands as ShellConfig & { readonly _use: string };

describe.skipIf(noWall !== "")("everyday lines under the rules of `init`", () => {
  let playground: Playground;
  let stage: Stage;
  beforeAll(async () => {
    playground = await createPlayground();
    const scopes = [{ name: "project", root: `${playground.root}/work`, mode: "rw" as const }];
    stage = await createStage({ ...playground, scopes }, config);
  });
  afterAll(async () => {
    await stage?.close();
    await playground?.remove();
  });

  test.each(["ordinary.txt", "everyday.txt"])("%s: 97 % ask nothing where they name their effects", async (file) => {
    const lines = readLinesWithEffects(file);
    const asking: string[] = [];
    for (const line of lines) if ((await stage.allowedBy(line)) === undefined) asking.push(line.command);
    process.stderr.write(`${file}: ${asking.length} of ${lines.length} ask: ${asking.join("; ")}\n`);
    expect(asking.length / lines.length).toBeLessThanOrEqual(0.03);
  });

  test("each rule lets a line run", async () => {
    const used = new Set<string>();
    for (const line of ["ordinary.txt", "everyday.txt", "programs.txt"].flatMap(readLinesWithEffects)) {
      for (const pattern of (await stage.allowedBy(line)) ?? [])
        used.add(`${pattern} ${line.writes === undefined ? "scratch" : "writes"}`);
    }
    const written = config.rules.map(({ pattern, scratch }) => `${pattern} ${scratch === true ? "scratch" : "writes"}`);
    expect(written.filter((rule) => !used.has(rule))).toEqual([]);
  });

  test("a model that follows the hints finds the effects in one more call", async () => {
    const project = createProject();
    const own = await createStage({ ...project, scopes: project.scopes.slice(0, 1) }, config);
    const all = process.env["LLM_DO_LINES"] === "all";
    const lines = readLinesWithEffects("programs.txt")
      .filter(({ writes, command }) => writes !== undefined && quick.test(command))
      .filter((_, index) => all || index % 3 === 0);
    const lost: string[] = [];
    let again = 0;
    for (const { command } of lines) {
      const first = await playInFresh({ project, stage: own }, command, {});
      if (first["exit_code"] === 0 || notInstalled.test(String(first["stderr"]))) continue;
      again++;
      const second = await playInFresh({ project, stage: own }, command, followHint(first));
      if (second["exit_code"] !== 0) lost.push(`${command}: ${first["hint"]} ${first["stderr"]} ${second["stderr"]}`);
    }
    await own.close();
    project.remove();
    process.stderr.write(
      `${again} of ${lines.length} lines that change something needed a second call, ${lost.length} a third\n`,
    );
    expect(again).toBeGreaterThan(lines.length / 2);
    expect(lost).toEqual([]);
  });
});

/** Lines of programs that most machines have, and that take little time. */
const quick = /^(?:git|sed|make|tar|zip|sqlite3|patch|npm (?:pkg|version))\b/;
const notInstalled = /command not found/;

interface Played {
  readonly project: Project;
  readonly stage: Stage;
}

async function playInFresh({ project, stage }: Played, command: string, effects: Effects) {
  const before = readTree(project.root);
  const { result = {}, refused } = await stage.play({ command, timeout: 20, ...effects }, "approve");
  restoreTree(project.root, before, changesBetween(before, readTree(project.root, before)));
  return refused === undefined ? result : { exit_code: -1, stderr: refused };
}

/** What a model makes of a hint: the first folder that it names, and the protected names that it or the message is about. */
function followHint({ hint = "", stdout = "", stderr = "" }: Record<string, unknown>): Effects {
  const folder = /`writes` \((\w+)/.exec(String(hint))?.[1];
  const lists = [...String(hint).matchAll(/`opens: (\[[^\]]*\])`/g)];
  const opened = lists.flatMap(([, list]) => JSON.parse(list ?? "[]") as string[]);
  const named = `${stdout}${stderr}`.includes("package.json") ? ["package.json"] : [];
  const opens = [...new Set([...opened, ...named])];
  return folder === undefined ? {} : { writes: [folder], ...(opens.length > 0 ? { opens } : {}) };
}
