import { type CommandRequest, type CommandResult, NotIsolated } from "../../host/commands.ts";
import { describeScope } from "../../host/scopes/scope-refusals.ts";
import type { Scopes } from "../../host/scopes/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { assertPinned } from "../skills/skill-files.ts";
import { ToolInterrupted, toolFailure } from "../toolset.ts";
import type { PlannedRun, ShellAccess } from "./access.ts";
import { type Effects, toEffectArgs } from "./effects.ts";

/** Keeps programs from starting others by themselves: pagers, and what `less` can do. The runner sets what it takes for git. */
const quietEnvironment = { PAGER: "cat", MANPAGER: "cat", LESSSECURE: "1" };

/** Settings that are listed in a result. */
const mostNamed = 20;
/** Paths that are listed of what was thrown away. */
const mostThrown = 50;

/** Limit of each stream. A fifth of it is its beginning. */
const maxOutputBytes = 50 * 1024;

export interface Running {
  readonly scopes: Scopes;
  readonly signal: AbortSignal;
}

/** Runs what was judged. A command that failed is a result like any other: its exit code says so. */
export async function runPlanned(run: PlannedRun, { commands }: ShellAccess, { scopes, signal }: Running): Promise<JsonObject> {
  const { effects } = run;
  await assertPinned(scopes);
  let interrupted: CommandResult | undefined;
  const request: CommandRequest = {
    command: run.request,
    scopes,
    rights: { writes: run.writes, reads: effects.reads, scratch: effects.scratch },
    cwd: run.cwd,
    network: effects.network,
    environment: quietEnvironment,
    timeoutMilliseconds: run.timeoutSeconds * 1000,
    maxOutputBytes,
    // A command that was judged as isolated does not run without isolation.
    isolationRequired: run.notIsolated === undefined,
    unprotected: effects.opens,
    hooks: effects.opens.includes(".git/hooks"),
    onInterrupted: (result) => {
      interrupted = result;
    },
    signal,
  };
  try {
    return toResult(run, await commands.run(request), scopes);
  } catch (error) {
    // Its message is for people: it can hold paths of the machine.
    if (error instanceof NotIsolated) throw toolFailure("tool_failed", "The command was not run: it could not be isolated.");
    if (interrupted) throw new ToolInterrupted(toResult(run, interrupted, scopes), { cause: error });
    throw error;
  }
}

function toResult(run: PlannedRun, result: CommandResult, scopes: Scopes): JsonObject {
  const {
    stdout,
    stderr,
    exitCode,
    dropped,
    timedOut,
    movedAside,
    putBack = [],
    tooDeep,
    locked = [],
    git,
    thrownAway,
    tooLarge = [],
  } = result;
  const late = `Command timed out after ${run.timeoutSeconds} seconds.`;
  const { effects } = run;
  const hints = run.notIsolated === undefined ? hintsOf(run, result, scopes) : [];
  return {
    ...(thrownAway === undefined ? {} : { thrown_away: nameThrown(thrownAway) }),
    writes: [],
    ...toEffectArgs(effects),
    stdout,
    stderr: timedOut ? [stderr.trimEnd(), late].filter((text) => text !== "").join("\n") : stderr,
    exit_code: exitCode,
    truncated: dropped.stdout > 0 || dropped.stderr > 0,
    ...(dropped.stdout > 0 || dropped.stderr > 0 ? { dropped_bytes: { ...dropped } } : {}),
    ...(timedOut ? { timed_out: true } : {}),
    ...(movedAside.length > 0 ? { moved_aside: [...movedAside] } : {}),
    ...(putBack.length > 0 ? { put_back: [...putBack] } : {}),
    ...(tooLarge.length > 0 ? { over_max_file_bytes: [...tooLarge] } : {}),
    ...nameUnseen(tooDeep, locked),
    ...(git && git.leftOut.length > 0 ? { git_settings_left_out: git.leftOut.slice(0, mostNamed) } : {}),
    ...(hints.length > 0 ? { hint: hints.join(" ") } : {}),
  };
}

/** Folders that the command did not see, since nobody knows which names are in them. */
function nameUnseen(tooDeep: readonly string[], locked: readonly string[]): JsonObject {
  const reasons = [
    ...(tooDeep.length > 0 ? ["too many folders down"] : []),
    ...(locked.length > 0 ? ["no right to list and enter them"] : []),
  ];
  return reasons.length === 0 ? {} : { not_looked_into: { reason: reasons.join(", or "), folders: [...tooDeep, ...locked] } };
}

/** Explains the wall, where a text looks as if the command had met it. Words prove nothing: the exit code can be 0. */
function hintsOf({ effects, request }: PlannedRun, result: CommandResult, scopes: Scopes): readonly string[] {
  const text = `${result.stdout}\n${result.stderr}`;
  const met = (pattern: RegExp) => pattern.test(text);
  const hints: string[] = [];
  const isGit = /^git\b/.test(request.type === "argv" ? (request.argv[0] ?? "") : request.script);
  // `git stash` says nothing where it cannot write.
  const isSilent = isGit && result.exitCode === 1 && text.trim() === "";
  if (met(refusedWrite) || isSilent) {
    const writable = scopes.writable().map(describeScope).join(", ");
    const ask = `ask for the folders that it writes in with \`writes\` (${writable}, or folders in them), and for protected names (.git, package.json, …) with \`opens\``;
    hints.push(writable === "" ? "Commands can write nowhere here." : `This call could write ${placesOf(effects)}; ${ask}.`);
    if (isGit && !effects.opens.includes(".git")) hints.push('What changes a repository needs `opens: [".git"]`.');
  }
  if (met(/address family not supported|eafnosupport/i)) {
    hints.push("Commands can open no Unix sockets here; pipes, pairs of sockets and TCP on 127.0.0.1 work.");
  }
  if (!effects.network && met(unreachable)) {
    hints.push("This call had no network; where the worker has one (sandbox.network_enabled), ask for it with `network: true`.");
  }
  if (result.isUnfinished) hints.push("Not all protected names could be renamed or put back: the next command tries again.");
  if (result.isUnnoted)
    hints.push("llm-do cannot write its state folder: if it is killed, protected names that a command brought stay.");
  return [...hints, ...missedGit(text, result)];
}

const refusedWrite =
  /read-only file system|\berofs\b|readonly database|unable to open database file|device or resource busy|permission denied|cannot lock ref|unable to (?:create|write|move)|cannot open: file exists/i;

/** Names what was written and is gone. */
function nameThrown(paths: readonly string[]): readonly string[] {
  const more = paths.length - mostThrown;
  return more > 0 ? [...paths.slice(0, mostThrown), `and ${more} more`] : paths;
}

/** Says which of git's files the command did not see as they are. */
function missedGit(text: string, { git, movedAside }: CommandResult): readonly string[] {
  const hints: string[] = [];
  if (movedAside.some((path) => /(?:^|\/)\.git\//.test(path))) {
    hints.push(
      'What git keeps beside commits and branches, such as a rebase or bisect that stops half-way, needs `opens: [".git", ".git/config"]`.',
    );
  }
  if (/could not (?:lock|write) config file|branch rename failed|\.git\/config.*(?:busy|read-only)/i.test(text)) {
    hints.push('What changes the configuration of a repository needs `opens: [".git", ".git/config"]`.');
  }
  const closed = git?.withoutObjects ?? [];
  if (
    closed.length > 0 &&
    /bad object|bad revision|could not read|unable to read|appears to be broken|missing blob/i.test(text)
  ) {
    hints.push(`\`${closed.join("`, `")}\` holds files that ask before they are read: \`reads: [".git"]\` asks for its history.`);
  }
  return hints;
}

function placesOf({ writes, opens, scratch }: Effects): string {
  if (scratch) return "everywhere, in layers that are thrown away";
  if (writes.length === 0) return "nowhere but in /tmp";
  return `in ${writes.join(", ")}${opens.length === 0 ? " without their protected names" : ` with ${opens.join(", ")}`}`;
}

const unreachable =
  /could not resolve host|network is unreachable|temporary failure in name resolution|name or service not known|getaddrinfo/i;
