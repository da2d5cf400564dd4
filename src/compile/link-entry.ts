import { relative } from "node:path";
import { diagnose } from "../diagnostics/diagnose.ts";
import { didYouMean } from "../diagnostics/did-you-mean.ts";
import type { CodeEntry, Entry, Worker } from "../program/program.ts";
import { isTool } from "../toolsets/toolset.ts";
import type { Compilation } from "./compilation.ts";
import { defaultScope } from "./link-scopes.ts";
import type { ProgramPlace } from "./locate-program.ts";

export interface EntryContext {
  readonly compilation: Compilation;
  /** By path. */
  readonly workers: ReadonlyMap<string, Worker>;
  readonly trusted: boolean;
}

/** What starts the run. Undefined, with a diagnostic, where there is no such thing; undefined without one for untrusted code. */
export async function linkEntry(
  { entry, root }: ProgramPlace,
  { compilation, workers, trusted }: EntryContext,
): Promise<Entry | undefined> {
  if (entry.kind === "worker") {
    const worker = workers.get(entry.path);
    return worker && { kind: "worker", worker };
  }
  const code = await compilation.tools();
  const value = code?.exports.get(entry.name);
  if (code?.exports.has(entry.name) && !trusted) return undefined;
  const scopes = [defaultScope(root)];
  const input = isTool(value) ? value.input : undefined;
  if (isTool(value) || typeof value === "function") {
    const execute = (isTool(value) ? value.execute : value) as CodeEntry["execute"];
    return { kind: "code", code: Object.freeze({ name: entry.name, input, scopes, execute }) };
  }
  const file = relative(root, entry.path);
  const notes = didYouMean(entry.name, code?.exports.keys() ?? []);
  compilation.diagnostics.report(
    diagnose("entry-not-found", { message: `\`${file}\` exports no function \`${entry.name}\``, notes }),
  );
  return undefined;
}
