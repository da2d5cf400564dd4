import type { ShellConfig } from "../../../src/toolsets/shell/config.ts";
import { differencesOf } from "./differences.ts";
import { createStage, type Line } from "./play-line.ts";
import { createPlayground } from "./playground.ts";
import { changesBetween, readTree, restoreTree } from "./tree.ts";

export interface Report {
  /** Lines that ran, with their program. */
  ran: number;
  /** Lines that were blocked, or denied. */
  refused: number;
  /** Lines of which a program is not installed. */
  notRun: number;
  /** Lines that changed something that they were granted. */
  changed: number;
  readonly differences: string[];
}

export interface Playing {
  readonly config: ShellConfig;
  readonly answer: "approve" | "deny";
  /** Playgrounds that are played on at the same time. Default 2. */
  readonly lanes?: number;
}

/** Plays each line in a fresh tree, and compares what happened with what was granted. */
export async function playAll(lines: readonly Line[], { config, answer, lanes = 2 }: Playing): Promise<Report> {
  const report: Report = { ran: 0, refused: 0, notRun: 0, changed: 0, differences: [] };
  const left = [...lines];
  await Promise.all(Array.from({ length: lanes }, () => playLane(left, { config, answer }, report)));
  return report;
}

async function playLane(left: Line[], { config, answer }: Playing, report: Report): Promise<void> {
  const playground = await createPlayground();
  const stage = await createStage(playground, config);
  try {
    let before = readTree(playground.root);
    for (let line = left.shift(); line !== undefined; line = left.shift()) {
      const command = line.command
        .replaceAll("127.0.0.1/9", `127.0.0.1/${playground.port}`)
        .replaceAll("{PORT}", `${playground.port}`);
      const { granted, result, refused } = await stage.play({ ...line, command }, answer);
      const after = readTree(playground.root, before);
      const differences = differencesOf(granted, { before, after, heard: playground.heard(), result });
      if (process.env["LLM_DO_SHOW_LINES"])
        process.stderr.write(`${JSON.stringify({ line, granted, result, refused, differences })}\n`);
      report.differences.push(
        ...differences.map((what) => `${JSON.stringify(line)} granted ${JSON.stringify(granted)}: ${what}`),
      );
      if (refused !== undefined) report.refused++;
      else if (/command not found/.test(String(result?.["stderr"]))) report.notRun++;
      else report.ran++;
      const changed = changesBetween(before, after);
      if (changed.length === 0) continue;
      report.changed++;
      before = restoreTree(playground.root, before, changed);
    }
  } finally {
    await stage.close();
    await playground.remove();
  }
}
