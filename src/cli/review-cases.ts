import { type Case, type CaseLabel, parseCase } from "../boundary/case-file.ts";
import { findMisfit } from "../boundary/check-output.ts";
import { createNodeHost } from "../host/node-host.ts";
import type { JsonValue } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { showProse } from "../ui/show-text.ts";
import { parseJson } from "../util/parse-json.ts";
import { atTerminal } from "./ask-yes-or-no.ts";
import type { Terminal } from "./terminal.ts";

export interface ReviewOptions {
  readonly worker: string;
  /** The output schema of the worker; undefined where its output is text. */
  readonly output: JsonSchema | undefined;
}

type Answer = CaseLabel | "edit" | "skip" | "stop";

const keys = "r  right\nw  wrong\ne  wrong: write the right output\ns  skip\nq  stop here\n";

/**
 * Asks a person about each case of a file that has no label, and writes each answer before the next question. Other lines keep their bytes.
 * Resolves with the number of labels written. Rejects with a `CaseLineError`, and with a `UsageError` without a terminal.
 */
export async function reviewCases(path: string, { worker, output }: ReviewOptions): Promise<number> {
  const { files } = createNodeHost();
  const lines = (await files.readText(path)).split("\n");
  const cases = lines.map((line, index) => parseCase(line, index + 1, { worker }));
  const open = [...cases.entries()].filter(([, one]) => one !== undefined && !one.label) as [number, Case][];
  let written = 0;
  if (open.length === 0) return written;
  return atTerminal("a person reviews cases, and there is no terminal to ask at", async (terminal, signal) => {
    for (const [at, [index, one]] of open.entries()) {
      const label = await askLabel(terminal, signal, { one, output, head: `case ${at + 1} of ${open.length}` });
      if (label === "stop") break;
      if (label === "skip") continue;
      // The key order of the line stays, and so do keys of later versions.
      lines[index] = JSON.stringify({ ...JSON.parse(lines[index] ?? ""), label });
      await files.writeAtomically(path, lines.join("\n"));
      written++;
    }
    return written;
  });
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

/** Undefined where the person goes back, or the text does not fit; the reason is shown then. */
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
