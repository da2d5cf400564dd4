import { isFlag } from "../compile/flag.ts";
import { renderDiagnostics } from "../diagnostics/render-diagnostic.ts";
import { type CompileRequest, compile } from "../llm-do.ts";
import { writeStderr } from "./output.ts";

/** A rule of a flag that matches nothing looks as if it protected something. Compiles only where there are rules. */
export async function warnOfRules(request: CompileRequest): Promise<void> {
  if (!request.rules || request.rules.length === 0) return;
  const { diagnostics } = await compile(request);
  const unused = diagnostics.filter(({ code, span }) => code === "approval-rule-unused" && span && isFlag(span));
  if (unused.length > 0) writeStderr(`${renderDiagnostics(unused)}\n\n`);
}
