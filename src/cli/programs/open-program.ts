import type { Compiled } from "../../compile/compile.ts";
import { CompileError } from "../../compile/compile-error.ts";
import { isFlag } from "../../compile/flag.ts";
import { concernsRun } from "../../compile/warnings-of-run.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { type CompileRequest, compile, compileWith } from "../../front/llm-do.ts";
import type { ApprovalRule } from "../../protocol/approval.ts";
import type { ProgramOptions } from "../../protocol/fact.ts";
import type { Limits } from "../../protocol/usage.ts";
import { asStarted } from "../command-name.ts";
import { reserveStdout, writeStderr } from "../output.ts";
import { isTrusted, requireTrust, type TrustOptions } from "./require-trust.ts";

/** Flags of every command that compiles a program: they choose it, and override its files. */
export interface CompileFlags extends Pick<CompileRequest, "entry" | "model" | "modelFor" | "set" | "trust"> {
  readonly scope?: Readonly<Record<string, string>>;
  readonly unisolated?: boolean;
  /** Rules, as often as they were given. */
  readonly approve?: readonly string[];
  readonly deny?: readonly string[];
}

/** A program that may run: its code is trusted, and it has no errors. */
export type OpenProgram = Compiled &
  Pick<{ readonly [Part in keyof Compiled]: NonNullable<Compiled[Part]> }, "program" | "outline">;

export interface OpenOptions extends TrustOptions, Pick<CompileRequest, "toRun" | "forRun" | "host"> {
  /** Shows no warnings. */
  readonly quiet?: boolean | undefined;
  /** Options that a record gives, below the flags. */
  readonly ofProgram?: ProgramOptions;
  /** Called with the limits of the manifest before any of the program's code is imported. */
  readonly onLimits?: (limits: Limits) => void;
  /** Called when code is trusted that is going to be imported. */
  readonly onCode?: () => void;
}

/**
 * The one way from flags to a program that may run. Compiles once: what is warned about, what gives the input its types, what is
 * trusted and what runs are the same. Rejects with a `CompileError`, or with a `UsageError` if the trust is not given.
 */
export async function openProgram(targets: readonly string[], flags: CompileFlags, options: OpenOptions): Promise<OpenProgram> {
  reserveStdout();
  const { toRun = false, quiet, host, signal, forRun, ofProgram = {} } = options;
  const more = { ...(host ? { host } : {}), ...(forRun === undefined ? {} : { forRun }) };
  const read = await compileWith({ ...toRequest(targets, flags), trust: false, toRun, ...more }, ofProgram);
  signal?.throwIfAborted();
  refuseErrors(
    flags.trust ? { ...read, diagnostics: read.diagnostics.filter(({ code }) => code !== "not-verified-untrusted") } : read,
  );
  if (read.outline) options.onLimits?.(read.outline.limits);
  const trust = async () => {
    if (read.codeFiles.length > 0) options.onCode?.();
    return (await read.trust?.()) ?? read;
  };
  const compiled = read.trust ? await (flags.trust ? trust() : requireTrust({ ...read, trust }, options)) : read;
  signal?.throwIfAborted();
  refuseErrors(compiled);
  const { program, outline, diagnostics } = compiled;
  if (!program || !outline) throw new Error("invariant: a program compiles without errors and is none");
  if (!quiet) await showWarnings(diagnostics.filter(concernsRun));
  return { ...compiled, program, outline };
}

/** Compiles to look at a program, whatever is wrong with it. Its code is imported only where its folder is trusted for good. */
export async function compileToShow(targets: readonly string[], flags: CompileFlags): Promise<Compiled> {
  reserveStdout();
  const read = await compile(toRequest(targets, flags));
  return read.trust && (await isTrusted(read)) ? read.trust() : read;
}

export function toRequest(targets: readonly string[], flags: CompileFlags): CompileRequest {
  const { entry, model, modelFor, set, scope, trust = false } = flags;
  const [target = "."] = targets;
  return {
    ...(targets.length > 1 ? { files: targets } : { target }),
    trust,
    rules: rulesOf(flags),
    ...(entry === undefined ? {} : { entry }),
    ...(model === undefined ? {} : { model }),
    ...(modelFor ? { modelFor } : {}),
    ...(set ? { set } : {}),
    ...(scope ? { scopes: scope } : {}),
  };
}

export function rulesOf({ approve = [], deny = [] }: CompileFlags): readonly ApprovalRule[] {
  return [
    ...approve.map((rule) => ({ effect: "allow" as const, rule, source: "--approve" })),
    ...deny.map((rule) => ({ effect: "block" as const, rule, source: "--deny" })),
  ];
}

function refuseErrors({ diagnostics }: Compiled): void {
  if (diagnostics.some(({ severity }) => severity === "error")) throw new CompileError(diagnostics);
}

/** Shows warnings about flags that do nothing. Returns the other warnings. */
export async function warnOfFlags(diagnostics: readonly Diagnostic[]): Promise<readonly Diagnostic[]> {
  const warnings = diagnostics.filter(({ severity }) => severity === "warning");
  const unused = warnings.filter(({ span }) => span && isFlag(span));
  await showWarnings(unused);
  return warnings.filter((one) => !unused.includes(one));
}

async function showWarnings(warnings: readonly Diagnostic[]): Promise<void> {
  if (warnings.length === 0) return;
  const { renderForTerminal } = await import("../../diagnostics/render-diagnostic.ts");
  writeStderr(`${asStarted(await renderForTerminal(warnings))}\n\n`);
}
