import { readRules } from "../../approval/rules/approval-rule.ts";
import type { ToolsetReference, Worker } from "../../program/program.ts";
import type { CallAddress } from "../../protocol/call.ts";
import { toolName } from "../../toolsets/tool-name.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import { matchesFlatGlob } from "../../util/text/flat-glob.ts";
import type { RuntimeConfig } from "../config.ts";

interface ConnectedWorker {
  readonly worker: Worker;
  readonly call: CallAddress;
  /** The tools of the workers whose toolsets were connected in this run, as models call them. */
  readonly toolNames: ReadonlyMap<Worker, readonly string[]>;
  /** Names that were reported, which this adds to. */
  readonly reported: Set<string>;
}

/** Warns of names of tools that could not be checked before the run, and that no connected toolset offers. */
export function checkUnverifiedNames(run: RuntimeConfig, { worker, call, toolNames, reported }: ConnectedWorker): void {
  const own = toolNames.get(worker) ?? [];
  const warn = (message: string, names: readonly string[], name: string) => {
    if (reported.has(message)) return;
    reported.add(message);
    const near = didYouMean(name, names);
    run.emit(call, { type: "warning", message: near === undefined ? message : `${message}; ${near}` });
  };
  for (const { reference, toolset, approvals, prefix } of worker.toolsets.filter(connects)) {
    for (const name of approvals.keys()) {
      if (name === "*" || own.includes(toolName(prefix, name))) continue;
      warn(`\`_approval_config\` of \`${worker.name}\`: \`${reference}\` (${toolset.name}) has no tool \`${name}\``, own, name);
    }
  }
  for (const { rule, pattern } of readRules(run.policy.rules)) {
    const meant = [...run.program.workers.values()].filter(({ name, id }) =>
      [name, id].some((one) => matchesFlatGlob(pattern.worker, one)),
    );
    if (!meant.includes(worker)) continue;
    const isKnown = meant.every((one) => toolNames.has(one) || !one.toolsets.some(connects));
    const names = [...run.program.callables.keys(), ...meant.flatMap((one) => toolNames.get(one) ?? namesOf(one))];
    if (!isKnown || names.some((name) => matchesFlatGlob(pattern.tool, name))) continue;
    warn(`the rule \`${rule}\` matches no tool, so it does nothing`, names, pattern.tool);
  }
}

function connects({ toolset }: ToolsetReference): boolean {
  return toolset.connect !== undefined;
}

function namesOf({ toolsets, serverTools }: Worker): readonly string[] {
  return [
    ...toolsets.flatMap(({ tools, prefix }) => tools.map(({ name }) => toolName(prefix, name))),
    ...serverTools.map(({ type }) => `server:${type}`),
  ];
}
