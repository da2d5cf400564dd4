import type { Spanned } from "../../diagnostics/source.ts";
import type { CodeSyntax } from "../../language/worker-file.ts";
import type { WorkerCode } from "../../program/program.ts";
import { isTool } from "../../toolsets/toolset.ts";
import type { Compilation } from "../compilation.ts";
import type { Home } from "../home.ts";
import { findExport } from "../modules/find-export.ts";

/** `tools.ts:NAME`, without `./` before it. */
const bareFile = /^[\w-][\w./-]*\.[cm]?[jt]s:/;

/** Links the function that answers before a worker's prompt. Undefined, with a diagnostic, if there is none that can be used. */
export async function linkCode(
  compilation: Compilation,
  syntax: Spanned<CodeSyntax> | undefined,
  home: Home,
): Promise<Omit<WorkerCode, "hasPrompt"> | undefined> {
  if (!syntax) return undefined;
  const { from, on_failure: onFailure, history } = syntax.value;
  const { diagnostics } = compilation;
  const reference = bareFile.test(from.value) ? { ...from, value: `./${from.value}` } : from;
  if (!/:[A-Za-z_$][\w$]*$/.test(from.value)) {
    const message = `\`${from.value}\` names no function`;
    return diagnostics.report("code-not-function", { message, span: from.span, note: "write `tools.ts:NAME`" });
  }
  const found = await findExport(compilation, reference, home);
  if (!found) return undefined;
  const common = {
    ...{ name: found.name, reference: from.value },
    ...{ onFailure: onFailure?.value ?? "hand_over", history: history?.value ?? false },
  } as const;
  if (!found.verified) {
    const message = `\`${from.value}\` is code, and the program is not trusted: whether it is a function is not known`;
    diagnostics.report("not-verified-untrusted", { message, span: from.span });
    const execute = () => {
      throw new Error("invariant: code of an untrusted program runs");
    };
    return Object.freeze({ ...common, execute });
  }
  const { value } = found;
  const execute = isTool(value) ? value.execute : value;
  if (typeof execute === "function") return Object.freeze({ ...common, execute: execute as WorkerCode["execute"] });
  const note = `export a function: \`export const ${found.name} = (input, runtime) => …\``;
  return diagnostics.report("code-not-function", { message: `\`${from.value}\` is no function`, span: from.span, note });
}
