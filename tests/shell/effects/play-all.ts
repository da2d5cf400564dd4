import type { ShellConfig } from "../../../src/toolsets/shell/config.ts";
import { differencesOf } from "./differences.ts";
import { createStage, type Line } from "./play-line.ts";
import { createPlayground, type Playground } from "./playground.ts";
import { changesBetween, readTree, restoreTree, type Tree } from "./tree.ts";

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
}

interface Lane {
  readonly playground: Playground;
  tree: Tree;
}

/** Playgrounds that are played on at the same time. The caller closes them. */
export interface Lanes {
  /** Plays each line in a fresh tree, and compares what happened with what was granted. */
  play(lines: readonly Line[], playing: Playing): Promise<Report>;
  close(): Promise<void>;
}

/** `LLM_DO_LANES`: how many. Commands wait for processes and limits of time, so that more than there are cores can be of use. */
export async function createLanes(count = Number(process.env["LLM_DO_LANES"] ?? 2)): Promise<Lanes> {
  const lanes: Lane[] = [];
  for (let left = count; left > 0; left--) {
    const playground = await createPlayground();
    lanes.push({ playground, tree: readTree(playground.root) });
  }
  return {
    play: async (lines, playing) => {
      const report: Report = { ran: 0, refused: 0, notRun: 0, changed: 0, differences: [] };
      const left = [...lines];
      await Promise.all(lanes.map((lane) => playLane(lane, left, { ...playing, report })));
      return report;
    },
    close: async () => {
      for (const { playground } of lanes) await playground.remove();
    },
  };
}

async function playLane(
  lane: Lane,
  left: Line[],
  { config, answer, report }: Playing & { readonly report: Report },
): Promise<void> {
  const { playground } = lane;
  const stage = await createStage(playground, config);
  try {
    for (let line = left.shift(); line !== undefined; line = left.shift()) {
      const command = line.command.replaceAll("127.0.0.1/9", "127.0.0.1/{PORT}").replaceAll("{PORT}", `${playground.port}`);
      const { granted, result, refused } = await stage.play({ ...line, command }, answer);
      const before = lane.tree;
      const after = readTree(playground.root, before);
      const differences = differencesOf(granted, { before, after, heard: playground.heard(), result });
      report.differences.push(
        ...differences.map((what) => `${JSON.stringify(line)} granted ${JSON.stringify(granted)}: ${what}`),
      );
      if (refused !== undefined) report.refused++;
      else if (/command not found/.test(String(result?.["stderr"]))) report.notRun++;
      else report.ran++;
      const changed = changesBetween(before, after);
      if (changed.length === 0) continue;
      report.changed++;
      lane.tree = restoreTree(playground.root, before, changed);
    }
  } finally {
    await stage.close();
  }
}
