import { type Case, type CaseLabel, parseCase } from "../../boundary/case-file.ts";
import { findMisfit } from "../../boundary/check-output.ts";
import { readLines } from "../../host/files/read-lines.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { showProse } from "../../ui/text/show-text.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { UsageError } from "../exit-codes.ts";
import { createReplacement } from "../programs/new-file.ts";
import { atTerminal } from "./ask-yes-or-no.ts";
import type { Terminal } from "./terminal.ts";

export interface ReviewOptions {
  readonly worker: string;
  /** The output schema of the worker; undefined if its output is text. */
  readonly output: JsonSchema | undefined;
}

type Answer = CaseLabel | "edit" | "skip" | "stop";

const keys = "r  right\nw  wrong\ne  wrong: write the right output\ns  skip\nq  stop here\n";

/**
 * Asks a person about each case of a file that has no label, and writes each answer before the next question. Other lines keep their bytes.
 * Lines are read as they are asked about. Resolves with the number of labels written. Rejects with a `CaseLineError`, and with a `UsageError`
 * without a terminal.
 */
export async function reviewCases(path: string, { worker, output }: ReviewOptions): Promise<number> {
  let open = 0;
  for await (const _ of openCases(path, worker)) open++;
  let written = 0;
  if (open === 0) return written;
  return atTerminal("a person reviews cases, and there is no terminal to ask at", async (terminal, signal) => {
    let at = 0;
    for await (const { line, one, text } of openCases(path, worker)) {
      const label = await askLabel(terminal, signal, { one, output, head: `case ${++at} of ${open}` });
      if (label === "stop") break;
      if (label === "skip") continue;
      await replaceLine(path, { line, text, label });
      written++;
    }
    return written;
  });
}

interface OpenCase {
  /** From 1. */
  readonly line: number;
  /** With its line break. */
  readonly text: string;
  readonly one: Case;
}

/** Yields the cases that have no label in the file as it is now. */
async function* openCases(path: string, worker: string): AsyncGenerator<OpenCase, void> {
  let line = 0;
  for await (const text of readLines(path)) {
    const one = parseCase(text, ++line, { worker });
    if (one && !one.label) yield { line, text, one };
  }
}

interface Labelled extends Omit<OpenCase, "one"> {
  readonly label: CaseLabel;
}

/** Rejects with a `UsageError` if the line is not as it was. */
async function replaceLine(path: string, { line, text, label }: Labelled): Promise<void> {
  await using file = await createReplacement(path);
  let at = 0;
  let isThere = false;
  for await (const old of readLines(path)) {
    const isIt = ++at === line && old === text;
    isThere ||= isIt;
    // The key order of the line stays, and so do keys of later versions.
    await file.write(isIt ? `${JSON.stringify({ ...JSON.parse(text), label })}${/\r?\n$/.exec(text)?.[0] ?? ""}` : old);
  }
  if (!isThere) throw new UsageError(`${path}: line ${line} has changed meanwhile`);
  await file.finish();
}

interface Asked {
  readonly one: Case;
  readonly output: JsonSchema | undefined;
  readonly head: string;
}

async function askLabel(terminal: Terminal, signal: AbortSignal, asked: Asked): Promise<CaseLabel | "skip" | "stop"> {
  const { one, head } = asked;
  const from = one.from === undefined ? "" : ` (${showProse(one.from)})`;
  const files = one.files.map(({ name, bytes }) => `file:     ${showProse(name)}, ${bytes} bytes\n`).join("");
  const said = `asked:    ${showValue(one.input)}\n${files}answered: ${showValue(one.output)}\n`;
  const text = `\n${head}${from}\n${said}${keys}`;
  for (;;) {
    const answer = await terminal.ask({ text, keys, read: readKey, cancelled: "stop" as const }, signal);
    if (answer !== "edit") return answer;
    const corrected = await askOutput(terminal, signal, asked);
    if (corrected) return corrected;
  }
}

function readKey(line: string | undefined): { readonly answer: Answer } | string {
  const answers: Readonly<Record<string, Answer>> = {
    r: { verdict: "right" },
    w: { verdict: "wrong" },
    e: "edit",
    s: "skip",
    q: "stop",
  };
  const key = line?.trim().toLowerCase() ?? "q";
  const answer = Object.hasOwn(answers, key) ? answers[key] : undefined;
  return answer === undefined ? "Answer with r, w, e, s or q." : { answer };
}

/** Undefined if the person goes back, or the text does not fit; the reason is shown then. */
async function askOutput(terminal: Terminal, signal: AbortSignal, { one, output }: Asked): Promise<CaseLabel | undefined> {
  const question = {
    text: "The right output, as one line of JSON; an empty line goes back.\n",
    initial: JSON.stringify(one.output),
    cancelled: "",
    read: (line: string | undefined) => ({ answer: line ?? "" }),
  };
  const text = (await terminal.ask(question, signal)).trim();
  if (text === "") return undefined;
  const value = parseJson(text) as JsonValue | undefined;
  const problem = value === undefined ? "it is no JSON" : await findMisfit(value, output);
  if (problem === undefined && value !== undefined) return { verdict: "corrected", output: value };
  terminal.say(`This is not written: ${showProse(problem ?? "")}.\n`);
  return undefined;
}

function showValue(value: JsonValue): string {
  return showProse(JSON.stringify(value));
}
