import { diagnose } from "../../diagnostics/diagnose.ts";
import type { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import { didYouMean } from "../../diagnostics/did-you-mean.ts";
import type { Outline } from "../../protocol/outline.ts";
import { clipText } from "../../util/clip-text.ts";
import { matchesFlatGlob } from "../../util/flat-glob.ts";
import type { LinkedRule } from "../link-rules.ts";

/** A rule that speaks of no tool of the program does nothing, and looks as if it did. */
export function checkRules(rules: readonly LinkedRule[], { entry, workers }: Outline, diagnostics: DiagnosticList): void {
  const callers = [...workers.flatMap(({ id, name }) => [name, id]), ...(entry.kind === "code" ? [entry.name] : [])];
  const toolsets = workers.flatMap((worker) => worker.toolsets);
  const tools = toolsets.flatMap((toolset) => toolset.tools.flatMap(({ name, calls = [] }) => [name, ...calls]));
  const callables = entry.kind === "code" ? workers.map(({ name }) => name) : [];
  // What code that nobody looked at offers, or what an entry in code calls, is not known here.
  const isKnown = entry.kind !== "code" && toolsets.every(({ kind }) => kind !== "unverified");
  for (const rule of rules) {
    reportUnmet(rule, { what: "worker", glob: rule.pattern.worker, names: callers }, diagnostics);
    if (isKnown) reportUnmet(rule, { what: "tool", glob: rule.pattern.tool, names: [...tools, ...callables] }, diagnostics);
  }
}

interface Meeting {
  readonly what: "worker" | "tool";
  readonly glob: string;
  readonly names: readonly string[];
}

function reportUnmet({ written }: LinkedRule, { what, glob, names }: Meeting, diagnostics: DiagnosticList): void {
  if (names.some((name) => matchesFlatGlob(glob, name))) return;
  const known = [...new Set(names)].sort();
  const near = didYouMean(glob, known);
  const all = { message: `the ${what}s: ${known.map((name) => `\`${name}\``).join(", ") || "none"}` };
  const message = `\`${clipText(glob, 60)}\` matches no ${what} of the program, so the rule does nothing`;
  diagnostics.report(diagnose("approval-rule-unused", { message, span: written.span, notes: near.length > 0 ? near : [all] }));
}
