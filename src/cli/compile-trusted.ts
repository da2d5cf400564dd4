import type { Compiled } from "../compile/compile.ts";
import { compile } from "../llm-do.ts";
import { type RuleFlags, rulesOf } from "./approval-rules.ts";
import { reserveStdout } from "./output.ts";
import { isTrusted } from "./require-trust.ts";

/** What `check` and `explain` take: which program, and what the command line says over its files. */
export interface CompileFlags extends RuleFlags {
  readonly entry?: string;
  readonly model?: string;
  readonly modelFor?: readonly string[];
  readonly set?: readonly string[];
  readonly trust?: boolean;
}

/** Compiles, and imports the program's code only where its folder is trusted. What that code prints goes to stderr. */
export async function compileTrusted(targets: readonly string[], flags: CompileFlags): Promise<Compiled> {
  const { entry, model, modelFor, set, trust = false } = flags;
  const [target = "."] = targets;
  const request = {
    ...(targets.length > 1 ? { files: targets } : { target }),
    trust,
    rules: rulesOf(flags),
    ...(entry === undefined ? {} : { entry }),
    ...(model === undefined ? {} : { model }),
    ...(modelFor ? { modelFor } : {}),
    ...(set ? { set } : {}),
  };
  reserveStdout();
  const compiled = await compile(request);
  if (!compiled.untrusted || !(await isTrusted(compiled.untrusted.root))) return compiled;
  return compile({ ...request, trust: true });
}
