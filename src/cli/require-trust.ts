import { CompileError, type UntrustedProgram } from "../compile/compile-error.ts";
import { growthOf, mergeReach } from "../compile/reach.ts";
import type { TrustedFolder, TrustStore } from "../host/trust-store.ts";
import { type CompileRequest, compile } from "../llm-do.ts";
import type { Reach } from "../protocol/reach.ts";
import { wrapWords } from "../ui/wrap-text.ts";
import { errorMessage } from "../util/error-message.ts";
import { escapeText } from "../util/escape-text.ts";
import { UsageError } from "./exit-codes.ts";
import { openTrustStore } from "./open-trust-store.ts";
import { writeStderr } from "./output.ts";
import type { Terminal } from "./terminal.ts";

export interface TrustOptions {
  /** Undefined where nobody can be asked. */
  readonly terminal: Terminal | undefined;
  readonly signal: AbortSignal;
  /** The program as it is with its code imported: to be called only where that code is trusted. */
  readonly lookAgain: () => Promise<Reach>;
}

/**
 * Resolves when the program may run: its folder is trusted for what it can do, or a person says so now. Otherwise a
 * `UsageError`. Code can reach more than its text says, so a folder that is trusted for good is looked at twice: before any of
 * its code is imported, and after.
 */
export async function requireTrust(program: UntrustedProgram, options: TrustOptions): Promise<void> {
  const { root, reach } = program;
  const store = openTrustStore();
  const known = await store.get(root);
  const first = questionFor(program, known, reach);
  const answer = first && (await askForTrust(root, first, options));
  if (answer === "once") return;
  const whole = await options.lookAgain();
  const second = first ? undefined : questionFor(program, known, whole);
  const last = second ? await askForTrust(root, second, options) : answer;
  if (last === "always") await remember(store, root, mergeReach(known?.reach, whole));
}

/** What must be asked before a program runs, if anything. */
interface TrustQuestion {
  /** What it is about: a heading, and a row for each reason. */
  readonly head: string;
  readonly rows: readonly string[];
}

function questionFor(
  { root, reasons }: UntrustedProgram,
  known: TrustedFolder | undefined,
  now: Reach,
): TrustQuestion | undefined {
  if (!known) return { head: `${show(root)} is not trusted, and its program`, rows: reasons };
  if (!known.reach) {
    const head = `${show(root)} is trusted, but what for was not recorded in full. Its program`;
    return { head, rows: reasons };
  }
  const grown = growthOf(known.reach, now);
  return grown.length > 0 ? { head: `${show(root)} is trusted, and can do more now than it could then`, rows: grown } : undefined;
}

type TrustAnswer = "once" | "always" | "no";

async function askForTrust(root: string, question: TrustQuestion, { terminal, signal }: TrustOptions): Promise<TrustAnswer> {
  const rows = showRows(question.rows);
  const head = `${question.head}:`;
  if (!terminal) {
    const advice = "Look at it (llm-do explain); then run once at a terminal to trust it, or pass --trust";
    throw new UsageError([head, ...rows.map(indent), advice].join("\n"));
  }
  const code = "Its code runs with your rights; llm-do explain shows what else it can do.";
  const wrap = (line: string) => wrapWords(line, terminal.columns - 3);
  const lines = [...wrap(head), ...rows.flatMap((row) => wrap(row).map(indent)), ...wrap(code), ...wrap(`Trust ${show(root)}?`)];
  const text = `\n${lines.join("\n")}\n${trustAnswers}`;
  const answer = await terminal.ask({ text, read: readAnswer }, signal);
  if (answer === "no") throw new UsageError(`${show(root)} is not trusted for this, and nothing of it has run`);
  return answer;
}

/** None of these is an answer to the question about a call: what is typed for one question cannot answer the other. */
const trustAnswers = [
  "  yes     run it this once\n",
  "  always  trust the folder, until the program can do more\n",
  "  no      do not run it\n",
].join("");

/** What a program can do by its files and its code, which is imported. Rejects with a `CompileError` where it has mistakes. */
export async function reachWithTrust(request: CompileRequest): Promise<Reach> {
  const { reach, diagnostics } = await compile({ ...request, toRun: true });
  if (!reach) throw new CompileError(diagnostics);
  return reach;
}

/** Whether the user has trusted a folder for good, for all that its program could do as far as its text says. */
export async function isTrusted(root: string, reach: Reach): Promise<boolean> {
  const known = await openTrustStore().get(root);
  return known?.reach !== undefined && growthOf(known.reach, reach).length === 0;
}

/** Whether a folder was trusted for good at some time, for whatever its program could do then. */
export async function wasTrusted(root: string): Promise<boolean> {
  return (await openTrustStore().get(root)) !== undefined;
}

async function remember(store: TrustStore, root: string, reach: Reach): Promise<void> {
  try {
    await store.add(root, reach);
  } catch (thrown) {
    writeStderr(`llm-do: warning: the trust cannot be remembered, and holds for this run: ${errorMessage(thrown)}\n`);
  }
}

function readAnswer(line: string | undefined): { readonly answer: TrustAnswer } | string {
  switch (line?.trim().toLowerCase()) {
    case "y":
    case "yes":
      return { answer: "once" };
    case "always":
      return { answer: "always" };
    case "n":
    case "no":
    case undefined:
      return { answer: "no" };
    default:
      return "Answer with yes, always or no.";
  }
}

const mostRows = 40;

function showRows(rows: readonly string[]): string[] {
  const shown = rows.slice(0, mostRows).map(show);
  const left = rows.length - shown.length;
  return left > 0 ? [...shown, `and ${left} more`] : shown;
}

function indent(line: string): string {
  return `  ${line}`;
}

function show(text: string): string {
  return escapeText(text, { keepBackslashes: true });
}
