import { join, relative } from "node:path";
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
  /** What it is about: a heading, and rows below it. */
  readonly head: string;
  readonly rows: readonly string[];
}

function questionFor(
  { root, files, addresses }: UntrustedProgram,
  known: TrustedFolder | undefined,
  now: Reach,
): TrustQuestion | undefined {
  const names = [...files.map((file) => show(shorten(root, file))), ...addresses.map(show)].join(", ");
  const brings = "brings code, reaches beyond its folder or says where its models are";
  if (!known) return { head: `${show(root)} ${brings} (${names}), and the folder is not trusted`, rows: [] };
  if (!known.reach) {
    const head = `${show(root)} ${brings} (${names}), and what it could do when it was trusted was not recorded`;
    return { head, rows: [] };
  }
  const grown = growthOf(known.reach, now);
  return grown.length > 0 ? { head: `${show(root)} is trusted, and can do more now than it could then`, rows: grown } : undefined;
}

type TrustAnswer = "once" | "always" | "no";

async function askForTrust(root: string, question: TrustQuestion, { terminal, signal }: TrustOptions): Promise<TrustAnswer> {
  const rows = showRows(question.rows);
  const head = `${question.head}${rows.length === 0 ? "." : ":"}`;
  if (!terminal) {
    const advice = "Look at it (llm-do explain); then run once at a terminal to trust it, or pass --trust";
    throw new UsageError(rows.length === 0 ? `${head} ${advice}` : [head, ...rows.map(indent), advice].join("\n"));
  }
  const code = "Its code runs with your rights; llm-do explain shows what else it can do.";
  const ask = `Trust ${show(root)}? [y]es, this once / [a]lways / [n]o`;
  const wrap = (line: string) => wrapWords(line, terminal.columns - 3);
  const lines = [...wrap(head), ...rows.flatMap((row) => wrap(row).map(indent)), ...wrap(code), ...wrap(ask)];
  const text = `\n${lines.join("\n")}\n`;
  const answer = await terminal.ask({ text, read: readAnswer }, signal);
  if (answer === "no")
    throw new UsageError(`${show(root)} is not trusted${rows.length === 0 ? "" : " for this"}, and nothing of it has run`);
  return answer;
}

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
    case "a":
    case "always":
      return { answer: "always" };
    case "n":
    case "no":
    case undefined:
      return { answer: "no" };
    default:
      return "Answer with y, a or n.";
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

/** Files outside of the program keep their whole path: that is what must be seen. */
function shorten(root: string, file: string): string {
  const path = relative(root, file);
  return path.startsWith("..") || join(root, path) !== file ? file : path;
}

function show(text: string): string {
  return escapeText(text, { keepBackslashes: true });
}
