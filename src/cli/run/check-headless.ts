import type { Compiled } from "../../compile/compile.ts";
import { isFlag } from "../../compile/flag.ts";
import { forecast } from "../../compile/powers/forecast.ts";
import { toJsonDiagnostic } from "../../diagnostics/to-json-diagnostic.ts";
import type { Forecast } from "../../protocol/forecast.ts";
import type { Outline } from "../../protocol/outline.ts";
import { renderForecast, summarizeForecast } from "../../ui/render-forecast.ts";
import { exitCodes } from "../exit-codes.ts";
import { renderJson, writeResult, writeStderr } from "../output.ts";

export interface HeadlessOptions {
  readonly format: "text" | "json";
  /** Programs may run where they cannot be isolated. */
  readonly unisolated: boolean;
  /** The rules of `--approve`. */
  readonly approve: readonly string[];
}

/**
 * `check --headless`: what a run that can ask nobody would be denied. Gives that run's exit code as far as it can be told: 2
 * where the program is not trusted or must be isolated and cannot, 4 where a tool always asks, and 0 where none does, also where it depends on the arguments.
 * Rules of `--approve` name the calls that the run needs: where each of them fits a tool, what else asks does not make it 4.
 */
export async function reportHeadless(compiled: Compiled, options: HeadlessOptions): Promise<number> {
  const { outline, untrusted, diagnostics } = compiled;
  const { format, unisolated, approve } = options;
  const notIsolated = outline && (await findNotIsolated(outline));
  const found = outline && forecast(outline, { notIsolated: unisolated ? undefined : notIsolated });
  const cannotBegin = notIsolated !== undefined && outline?.workers.some(({ commands }) => commands?.isolationRequired);
  const isNamed =
    approve.length > 0 && !diagnostics.some(({ code, span }) => code === "approval-rule-unused" && span && isFlag(span));
  const exitCode = !found || untrusted || cannotBegin ? exitCodes.usage : exitCodeOf(found, isNamed);
  if (format === "json") {
    const whole = { v: 1, trusted: !untrusted, ...found, diagnostics: diagnostics.map(toJsonDiagnostic), exitCode };
    await writeResult(renderJson(whole));
  } else if (found) await writeResult(renderForecast(found, process.stdout.columns || 80));
  if (cannotBegin) writeStderr(`llm-do: \`sandbox.required\`: no run begins here, because ${notIsolated}\n`);
  if (found) writeStderr(`llm-do: unattended: ${summarizeForecast(found)}${consequence(found, isNamed)}\n`);
  return exitCode;
}

/** Why this machine cannot isolate programs; undefined if it can, or if the program starts none. */
async function findNotIsolated({ workers }: Outline): Promise<string | undefined> {
  if (!workers.some(({ commands }) => commands)) return undefined;
  const { createNodeHost } = await import("../../host/node-host.ts");
  const isolation = await createNodeHost().commands.isolation();
  return isolation.type === "none" ? isolation.why : undefined;
}

function consequence({ approval, calls }: Forecast, isNamed: boolean): string {
  const has = (wanted: Forecast["calls"][number]["verdict"]) => calls.some(({ verdict }) => verdict === wanted);
  if (approval === "reject_all" && (has("asks") || has("depends")))
    return "; the manifest says `reject_all`, so what asks is denied, and the run goes on";
  return isNamed && has("asks") ? "; a run that calls only what --approve allows is denied nothing" : "";
}

/** With `reject_all` in the manifest, a denied call does not fail the run. */
function exitCodeOf({ approval, calls }: Forecast, isNamed: boolean): number {
  const isDenied = approval === "prompt" && !isNamed && calls.some(({ verdict }) => verdict === "asks");
  return isDenied ? exitCodes.approvalNeeded : exitCodes.done;
}
