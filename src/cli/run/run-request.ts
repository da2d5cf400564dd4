import { statSync } from "node:fs";
import type { RunRequest } from "../../front/llm-do.ts";
import type { Limits } from "../../protocol/usage.ts";
import { checkLimits } from "../../runtime/bounds/check-limits.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { UsageError } from "../exit-codes.ts";
import { checkResultFile } from "./result-file.ts";
import type { RunFlags } from "./run-flags.ts";

/** The part of a run's request that flags make by themselves. Throws a `UsageError` that names the flag. */
export function createRequest(flags: RunFlags, signal: AbortSignal): Omit<RunRequest, "approval"> {
  const { attachment = [], journal, output } = flags;
  for (const path of attachment) checkAttachment(path);
  if (output !== undefined) checkResultFile(output);
  return {
    signal,
    debug: flags.debug ?? false,
    deltas: verbosityOf(flags) >= 2,
    attachments: attachment.map((path) => ({ path })),
    ...(journal ? {} : { journal }),
    ...(flags.trust ? { trust: true } : {}),
    limits: limitsOf(flags),
    ...(flags.price ? { prices: flags.price } : {}),
  };
}

export function verbosityOf({ quiet, debug, verbose }: RunFlags): number {
  if (quiet) return 0;
  return debug ? Math.max(1, verbose) : verbose;
}

function limitsOf({ limit = {}, maxDepth }: RunFlags): Limits {
  if (limit.depth !== undefined && maxDepth !== undefined)
    throw new UsageError("--max-depth and --limit depth say the same; leave one of them out");
  try {
    return checkLimits({ ...limit, ...(maxDepth === undefined ? {} : { depth: maxDepth }) });
  } catch (thrown) {
    throw new UsageError(`--limit: ${errorMessage(thrown)}`);
  }
}

export function checkAttachment(path: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) throw new UsageError(`--attachment ${path}: there is no such file`);
  if (!stats.isFile()) throw new UsageError(`--attachment ${path}: this is not a file`);
}
