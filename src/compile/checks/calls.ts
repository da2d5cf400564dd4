import { diagnose } from "../../diagnostics/diagnose.ts";
import type { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import { didYouMean } from "../../diagnostics/did-you-mean.ts";
import type { Callable } from "../../program/program.ts";
import { isTool } from "../../toolsets/toolset.ts";
import type { ProgramCode } from "../program-code.ts";

/** What a tool says that it calls must be there to be called. */
export function checkCalls(
  callables: ReadonlyMap<string, Callable>,
  code: ProgramCode | undefined,
  diagnostics: DiagnosticList,
): void {
  for (const [name, value] of code?.exports ?? []) {
    if (!isTool(value)) continue;
    for (const called of value.calls ?? []) {
      if (callables.has(called)) continue;
      const notes = didYouMean(called, callables.keys());
      diagnostics.report(
        diagnose("unknown-call", {
          message: `the tool \`${name}\` calls \`${called}\`, which is neither a worker nor a tool of this program`,
          notes,
        }),
      );
    }
  }
}
