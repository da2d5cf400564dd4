import { renderDiagnostics } from "../../diagnostics/render-diagnostic.ts";
import { toJsonDiagnostic } from "../../diagnostics/to-json-diagnostic.ts";
import { compile } from "../../llm-do.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeResult, writeStderr } from "../output.ts";

export interface CheckFlags {
  readonly entry?: string;
  readonly model?: string;
  readonly format: "text" | "json";
  readonly trust?: boolean;
}

/** `llm-do check [TARGET]`: everything that is wrong, and nothing else. Runs none of the program unless it is trusted. */
export async function checkCommand(target: string, { entry, model, format, trust = false }: CheckFlags): Promise<number> {
  const request = { target, trust, ...(entry === undefined ? {} : { entry }), ...(model === undefined ? {} : { model }) };
  const { diagnostics } = await compile(request);
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  if (format === "json") await writeResult(`${JSON.stringify(diagnostics.map(toJsonDiagnostic), undefined, 2)}\n`);
  else if (diagnostics.length > 0) writeStderr(`${renderDiagnostics(diagnostics)}\n\n`);
  const others = diagnostics.length - errors;
  writeStderr(`llm-do: ${target}: ${count(errors, "error")}, ${count(others, "warning or hint", "warnings and hints")}\n`);
  return errors > 0 ? exitCodes.usage : exitCodes.done;
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number === 0 ? "no" : number} ${number === 1 ? one : many}`;
}
