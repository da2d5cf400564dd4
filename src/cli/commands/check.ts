import type { Compiled } from "../../compile/compile.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { renderGithubAnnotations } from "../../diagnostics/render-github-annotations.ts";
import { toJsonDiagnostic } from "../../diagnostics/to-json-diagnostic.ts";
import { toSarif } from "../../diagnostics/to-sarif.ts";
import { version } from "../../version.ts";
import { chooseFormat } from "../choose-format.ts";
import { asStarted } from "../command-name.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { renderJson, writeResult, writeStderr } from "../output.ts";
import { type CompileFlags, compileToShow } from "../programs/open-program.ts";
import { wasTrusted } from "../programs/require-trust.ts";

/** Values of `--format`. All but `text` are for machines, and go to stdout. */
export type CheckFormat = "text" | "json" | "sarif" | "github";

export interface CheckFlags extends CompileFlags {
  readonly format: CheckFormat;
  readonly json?: boolean;
  readonly headless?: boolean;
}

/** `llm-do check [TARGET]`: everything that is wrong, and nothing else. Runs none of the program unless it is trusted. */
export async function checkCommand(targets: readonly string[], flags: CheckFlags): Promise<number> {
  const { headless } = flags;
  const format = chooseFormat(flags, "json");
  if (headless && format !== "text" && format !== "json")
    throw new UsageError(`--headless tells of no mistakes in a file, so it has no --format ${format}; take text or json`);
  if (flags.unisolated && !headless) writeStderr("llm-do: warning: --unisolated does nothing without --headless\n");
  const compiled = await compileToShow(targets, flags);
  const { untrusted, codeFiles } = compiled;
  const diagnostics = [...compiled.diagnostics, ...(await checkTestsOf(targets, compiled))];
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const shown = withoutSetUp(diagnostics);
  if (format === "text" && shown.length > 0) {
    const { renderForTerminal } = await import("../../diagnostics/render-diagnostic.ts");
    writeStderr(`${asStarted(await renderForTerminal(shown))}\n\n`);
  }
  if (format !== "text" && !headless) await writeResult(forMachines[format](diagnostics));
  for (const [code, line] of Object.entries(inOneLine))
    if (line !== "" && diagnostics.some((one) => one.code === code)) writeStderr(`llm-do: ${asStarted(line)}\n`);
  const others = shown.length - errors;
  writeStderr(
    `llm-do: ${targets.join(", ") || "."}: ${count(errors, "error")}, ${count(others, "warning or hint", "warnings or hints")}\n`,
  );
  if (untrusted) {
    const why = (await wasTrusted(untrusted.root)) ? "is not trusted for all that it could do now" : "is not trusted";
    const consequence = headless ? ". An unattended run would end with 2" : "";
    if (codeFiles.length > 0 || headless)
      writeStderr(`llm-do: its code was read and not run, because its folder ${why}; --trust checks it too${consequence}\n`);
  }
  if (headless) {
    const { reportHeadless } = await import("../run/check-headless.ts");
    const { unisolated = false, approve = [] } = flags;
    return reportHeadless(compiled, { format: format === "json" ? "json" : "text", unisolated, approve });
  }
  return errors > 0 ? exitCodes.usage : exitCodes.done;
}

/** The mistakes of the test files that `llm-do test` reads for the same targets. */
async function checkTestsOf(targets: readonly string[], compiled: Compiled): Promise<readonly Diagnostic[]> {
  const [{ checkTests }, { createNodeHost }] = await Promise.all([
    import("../../cases/check-tests.ts"),
    import("../../host/node-host.ts"),
  ]);
  const host = createNodeHost();
  const found: Diagnostic[] = [];
  for (const target of targets.length === 0 ? ["."] : targets) found.push(...(await checkTests(host, target, compiled)));
  return found;
}

/** Hints about what a check was not given, which are no faults of the program. The line on trust stands for the second. */
const inOneLine: Readonly<Record<string, string>> = {
  "model-unset": "no model is named yet: name one in the program, with -m, or by llm-do models default",
  "not-verified-untrusted": "",
};

/** The diagnostics of the program itself. */
export function withoutSetUp(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  return diagnostics.filter(({ code }) => !Object.hasOwn(inOneLine, code));
}

const forMachines: Readonly<Record<Exclude<CheckFormat, "text">, (diagnostics: readonly Diagnostic[]) => string>> = {
  json: (diagnostics) => renderJson(diagnostics.map(toJsonDiagnostic)),
  sarif: (diagnostics) => renderJson(toSarif(diagnostics, version)),
  github: renderGithubAnnotations,
};

function count(number: number, one: string, many = `${one}s`): string {
  return `${number === 0 ? "no" : number} ${number === 1 ? one : many}`;
}
