import type { Compiled } from "../../compile/compile.ts";
import type { NeedOfTrust } from "../../compile/compile-error.ts";
import { growthOf, mergeReach } from "../../compile/powers/reach.ts";
import type { TrustedFolder, TrustStore } from "../../host/own-files/trust-store.ts";
import type { Reach } from "../../protocol/reach.ts";
import { showText } from "../../ui/text/show-text.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { explainLine } from "../command-name.ts";
import { UsageError } from "../exit-codes.ts";
import { writeStderr } from "../output.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { openTrustStore } from "./open-trust-store.ts";

export interface TrustOptions {
  /** Undefined if nobody can be asked. */
  readonly terminal?: Terminal | undefined;
  readonly signal?: AbortSignal;
  /** Says how the program is looked at and trusted, where nobody can be asked. Default: for a new run. */
  readonly advise?: (() => Promise<string>) | undefined;
}

/**
 * Resolves with the program as it is with its code imported, when its folder is trusted for what it can do, or a person says so
 * now. Otherwise rejects with a `UsageError`. Code can reach more than its text says, so a folder that is trusted for good is
 * looked at twice: before any of its code is imported, and after. Returns without the second look where that finds errors.
 */
export async function requireTrust({ untrusted, reach, trust }: Compiled, options: TrustOptions): Promise<Compiled> {
  if (!untrusted || !reach || !trust) throw new Error("invariant: a program that needs no trust, or does not say what for");
  const { root } = untrusted;
  const store = openTrustStore();
  const known = await store.get(root);
  const first = questionFor(untrusted, known, reach);
  const answer = first && (await askForTrust(root, first, options));
  const whole = await trust();
  if (answer === "once" || !whole.reach) return whole;
  const second = first ? undefined : questionFor(untrusted, known, whole.reach);
  const last = second ? await askForTrust(root, second, options) : answer;
  if (last === "always") await remember(store, root, mergeReach(known?.reach, whole.reach));
  return whole;
}

/** A question that must be answered before a program runs. */
interface TrustQuestion {
  /** A heading, and a row for each reason. */
  readonly head: string;
  readonly rows: readonly string[];
  /** Code of its own or of packages, in the program or in tests of it. */
  readonly hasCode: boolean;
}

function questionFor({ root, reasons }: NeedOfTrust, known: TrustedFolder | undefined, now: Reach): TrustQuestion | undefined {
  const hasCode = reasons.some((reason) => /^(?:in tests )?(?:runs code|loads packages|has models played)/.test(reason));
  if (!known) return { head: `${show(root)} is not trusted, and its program`, rows: reasons, hasCode };
  if (!known.reach) {
    const head = `${show(root)} is trusted, but what for was not recorded in full. Its program`;
    return { head, rows: reasons, hasCode };
  }
  const grown = growthOf(known.reach, now, known.folder);
  const head = `${show(root)} is trusted, and can do more now than it could then`;
  return grown.length > 0 ? { head, rows: grown, hasCode } : undefined;
}

type TrustAnswer = "once" | "always" | "no";

async function askForTrust(root: string, question: TrustQuestion, options: TrustOptions): Promise<TrustAnswer> {
  const { terminal, signal = new AbortController().signal } = options;
  const head = `${question.head}:`;
  if (!terminal) {
    const advice = (await options.advise?.()) ?? newRunAdvice(root);
    throw new UsageError([head, ...takeRows(question.rows, 0).map((row) => `  ${row}`), advice].join("\n"));
  }
  const { wrapWords } = await import("../../ui/text/wrap-text.ts");
  const { columns } = terminal;
  const explain = `${explainLine(root)} shows what`;
  const code = question.hasCode ? `Its code runs with your rights; ${explain} else it can do.` : `${explain} it can do.`;
  const wrap = (line: string) => wrapWords(line, columns - 3);
  const page = (from: number) =>
    takeRows(question.rows, from).flatMap((row) =>
      wrapWords(row, columns - 5).map((line, index) => `${index === 0 ? "  " : "    "}${line}`),
    );
  let shown = mostRows;
  const text = `\n${[...wrap(head), ...page(0), ...wrap(code), ...wrap(`Trust ${show(root)}?`)].join("\n")}\n${answers(shown < question.rows.length)}`;
  const read = (line: string | undefined) => {
    const hasMore = shown < question.rows.length;
    if (!hasMore || !/^\s*m(ore)?\s*$/i.test(line ?? "")) return readAnswer(line, hasMore);
    const rows = page(shown);
    shown += mostRows;
    return `${rows.join("\n")}\n${answers(shown < question.rows.length).trimEnd()}`;
  };
  const answer = await terminal.ask({ text, read }, signal);
  if (answer === "no") throw new UsageError(`${show(root)} is not trusted for this, and nothing of it has run`);
  return answer;
}

function newRunAdvice(root: string): string {
  return `Look at it (${explainLine(root)}); then run once at a terminal to trust it, or pass --trust`;
}

/** None of these is an answer to the question about a call: what is typed for one question cannot answer the other. */
function answers(hasMore: boolean): string {
  return [
    hasMore ? "  m       show more\n" : "",
    "  yes     run it this once\n",
    hasMore ? "" : "  always  trust the folder, until the program can do more\n",
    "  no      do not run it\n",
  ].join("");
}

/** Returns true if the folder is trusted for good, for everything that the program is known to be able to do. */
export async function isTrusted({ untrusted, reach }: Compiled): Promise<boolean> {
  const known = untrusted && (await openTrustStore().get(untrusted.root));
  return known?.reach !== undefined && reach !== undefined && growthOf(known.reach, reach, known.folder).length === 0;
}

/** Returns true if the folder is trusted for good, also if the program can do more by now. */
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

function readAnswer(line: string | undefined, hasMore: boolean): { readonly answer: TrustAnswer } | string {
  switch (line?.trim().toLowerCase()) {
    case "y":
    case "yes":
      return { answer: "once" };
    case "always":
      return hasMore ? "Nothing is trusted for good before all of it was shown. Answer with m, yes or no." : { answer: "always" };
    case "n":
    case "no":
    case undefined:
      return { answer: "no" };
    default:
      return `Answer with ${hasMore ? "m, yes" : "yes, always"} or no.`;
  }
}

const mostRows = 40;

/** The next rows, escaped, with words about those that are left. */
function takeRows(rows: readonly string[], from: number): string[] {
  const shown = rows.slice(from, from + mostRows).map(show);
  const left = rows.length - from - shown.length;
  return left > 0 ? [...shown, `and ${left} more`] : shown;
}

function show(text: string): string {
  return showText(text);
}
