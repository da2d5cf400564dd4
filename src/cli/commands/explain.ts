import { renderForTerminal } from "../../diagnostics/render-diagnostic.ts";
import { listPrices, priceTable } from "../../front/llm-do.ts";
import type { Outline } from "../../protocol/outline.ts";
import { renderContext } from "../../ui/explain/render-context.ts";
import { renderExplanation } from "../../ui/explain/render-explanation.ts";
import { renderMermaid } from "../../ui/explain/render-mermaid.ts";
import { chooseFormat } from "../choose-format.ts";
import { asStarted, commandName } from "../command-name.ts";
import { exitCodes } from "../exit-codes.ts";
import { renderJson, writeResult, writeStderr } from "../output.ts";
import { type CompileFlags, compileToShow, warnOfFlags } from "../programs/open-program.ts";
import { withoutSetUp } from "./check.ts";

export type ExplainFormat = "text" | "context" | "json" | "mermaid";

export interface ExplainFlags extends CompileFlags {
  readonly format: ExplainFormat;
  readonly json?: boolean;
}

/** `llm-do explain [TARGET]`: what a program is and could do. Calls no model, and runs none of the program unless it is trusted. */
export async function explainCommand(targets: readonly string[], flags: ExplainFlags): Promise<number> {
  const format = chooseFormat(flags, "json");
  const { outline, diagnostics } = await compileToShow(targets, flags);
  if (!outline) {
    writeStderr(`${asStarted(await renderForTerminal(withoutSetUp(diagnostics)))}\n`);
    return exitCodes.usage;
  }
  await writeResult(await formats[format](outline, flags));
  const { length } = await warnOfFlags(diagnostics);
  if (length > 0) writeStderr(`llm-do: ${length} ${length === 1 ? "warning" : "warnings"}; ${commandName()} check shows them\n`);
  return exitCodes.done;
}

const formats: Readonly<Record<ExplainFormat, (outline: Outline, flags: ExplainFlags) => string | Promise<string>>> = {
  text: async (outline, { unisolated = false }) => {
    const prices = { of: await listPrices(outline.ceiling.models), date: priceTable.date };
    return renderExplanation(outline, { columns: process.stdout.columns || 80, prices, unisolated });
  },
  context: renderContext,
  json: (outline) => renderJson(outline),
  mermaid: renderMermaid,
};
