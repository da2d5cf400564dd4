import type { Span } from "../../diagnostics/source.ts";
import type { Tool } from "../../toolsets/toolset.ts";
import type { Compilation } from "../compilation.ts";

/** Code that calls others, by its export. `tool` is absent for a plain function. */
export interface EnteredCode {
  readonly name: string;
  readonly tool: Pick<Tool, "replayable"> | undefined;
  readonly span: Span | undefined;
}

/** Reports code that does not say whether a run that goes on can enter it again. */
export function hintAtReentry({ diagnostics }: Pick<Compilation, "diagnostics">, { name, tool, span }: EnteredCode): void {
  if (tool?.replayable !== undefined) return;
  const message = `\`${name}\` does not say whether a run that goes on can enter it again`;
  const condition = "if it does `runtime.step` and `runtime.now` alone besides its calls, `false` if not";
  const note = tool ? `write \`replayable: true\` ${condition}` : `make it a \`tool\`, with \`replayable: true\` ${condition}`;
  diagnostics.report("reentry-unstated", { message, span, note });
}
