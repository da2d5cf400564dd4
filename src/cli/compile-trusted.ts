import type { Compiled } from "../compile/compile.ts";
import { UntrustedProgram } from "../compile/compile-error.ts";
import { type CompileRequest, compile } from "../llm-do.ts";
import { type RuleFlags, rulesOf } from "./approval-rules.ts";
import { reserveStdout } from "./output.ts";
import { isTrusted, reachWithTrust, requireTrust } from "./require-trust.ts";

/** What every command that compiles a program takes: which one, and what the command line says over its files. */
export interface CompileFlags extends RuleFlags {
  readonly entry?: string;
  readonly model?: string;
  readonly modelFor?: readonly string[];
  readonly set?: readonly string[];
  readonly scope?: Readonly<Record<string, string>>;
  readonly unisolated?: boolean;
  readonly trust?: boolean;
}

/** Compiles, and imports the program's code only where its folder is trusted for all that it could do. What that code prints goes to stderr. */
export async function compileTrusted(targets: readonly string[], flags: CompileFlags): Promise<Compiled> {
  const request = toCompileRequest(targets, flags);
  reserveStdout();
  const compiled = await compile(request);
  const { untrusted, reach } = compiled;
  if (!untrusted || !reach || !(await isTrusted(untrusted.root, reach))) return compiled;
  return compile({ ...request, trust: true });
}

export function toCompileRequest(targets: readonly string[], flags: CompileFlags): CompileRequest {
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

/** Does what needs the program's code, where its folder has been trusted before. Asks nobody, and says how to go on. */
export async function withKnownTrust<T>(request: CompileRequest, doIt: (request: CompileRequest) => Promise<T>): Promise<T> {
  try {
    return await doIt(request);
  } catch (thrown) {
    if (!(thrown instanceof UntrustedProgram)) throw thrown;
    const trusted = { ...request, trust: true };
    const { signal } = new AbortController();
    await requireTrust(thrown, { terminal: undefined, signal, lookAgain: () => reachWithTrust(trusted) });
    return doIt(trusted);
  }
}
