import type { Preview } from "../../protocol/approval.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { PlannedRun } from "./access.ts";
import { describeEffects } from "./effects.ts";
import type { ShellPlan, SimpleCommand } from "./parse/plan.ts";
import { showWord } from "./parse/quote.ts";

const longestTitle = 200;

/** One line; what does not fit into it is in the preview, whole. */
export function describeRun({ request, notIsolated, cwd, effects }: PlannedRun): string {
  const command = request.type === "argv" ? request.argv.map(showWord).join(" ") : request.script;
  const [first = "", ...others] = command.split("\n");
  const isWhole = others.length === 0 && first.length <= longestTitle;
  const cut = `${clipText(first, longestTitle)} (${command.length} characters in all, shown below)`;
  const where = cwd.virtualPath === "." ? "" : ` in ${cwd.virtualPath}`;
  const rights = notIsolated === undefined ? describeEffects(effects) : "not isolated";
  return `Run (${rights})${where}: ${isWhole ? first : cut}`;
}

/** Exactly what would be started: the arguments of one program, or the whole script and the programs in it. */
export function previewRun(run: PlannedRun, plan: ShellPlan): Preview {
  const { request, notIsolated, effects } = run;
  const facts = [
    `in ${run.cwd.virtualPath}, ${run.timeoutSeconds} s at most`,
    ...(effects.opens.includes(".git/hooks") ? ["hooks of the repository run"] : []),
    notIsolated === undefined ? `isolated; ${describeEffects(effects)}` : `not isolated: ${notIsolated}`,
  ];
  const setting = facts.join("; ");
  if (request.type === "argv") return { type: "text", syntax: "shell", text: request.argv.map(showWord).join(" "), setting };
  return { type: "text", syntax: "shell", text: request.script, ...programsOf(plan), setting };
}

function programsOf({ uncertain, commands }: ShellPlan): { readonly programs?: readonly string[] } {
  const programs = commands.filter(({ words }) => words.length > 0).map(showCommand);
  return uncertain === undefined && programs.length > 0 ? { programs } : {};
}

function showCommand({ words }: SimpleCommand): string {
  return words.map((word) => (word.kind === "static" ? showWord(word.value) : word.value.replaceAll("\n", "\\n"))).join(" ");
}
