import { renderDiagnostics } from "../../diagnostics/render-diagnostic.ts";
import { renderProgramHelp } from "../../ui/explain/render-program-help.ts";
import { asStarted } from "../command-name.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeResult, writeStderr } from "../output.ts";
import { compileToShow } from "../programs/open-program.ts";

/** `llm-do TARGET --help`: a program's inputs, its output and what it may do. Runs none of it unless it is trusted. */
export async function programHelpCommand(target: string): Promise<number> {
  const { outline, diagnostics } = await compileToShow([target], {});
  if (outline) await writeResult(renderProgramHelp(outline, { target, columns: process.stdout.columns || 80 }));
  else writeStderr(asStarted(`${renderDiagnostics(diagnostics)}\n\nllm-do run --help lists the flags of a run\n`));
  return outline ? exitCodes.done : exitCodes.usage;
}
