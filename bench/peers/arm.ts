/**
 * A case that each library does once in a round. `turns`: so many turns with one call of `lookup` each; `effects`: the same, where llm-do's
 * tool says that it may have effects; `calls`: so many calls in one answer; `children`: calls of a tool that runs an agent of its own;
 * `text`: streamed tokens; `pdf`: turns after a prompt with a PDF of 2 MB; `start`: in a process of its own, `start-0` without tools.
 */
export interface Case {
  readonly kind: "turns" | "effects" | "calls" | "children" | "text" | "pdf" | "start";
  readonly count: number;
}

/** The name of the model that the server plays for a case. */
export const modelOf = ({ kind, count }: Case) => `${kind}-${count}`;

/** The reason why a library does not do a case. */
export const reasonOf = ({ without }: Arm, one: Case) => without?.[modelOf(one)] ?? without?.[one.kind];

/** Runs a case once; resolves with the last text. */
export type Runner = (one: Case) => Promise<string>;

/** A library, as its documentation shows it. */
export interface Arm {
  readonly name: string;
  /** Kinds of cases and single cases, such as `children-1000`, that it does not do, with the reason. */
  readonly without?: Readonly<Record<string, string>>;
  /** No agent library: shown, and not ranked. */
  readonly floor?: boolean;
  prepare(baseUrl: string): Promise<Runner>;
}

export const instructions = "Look up what you need, and answer.";
export const lookupDescription = "Look a key up.";
export const childDescription = "Ask another agent.";
export const lookup = (key: string) => `The value of ${key} is ${"x".repeat(280)}`;
export const question = "What is the value?";
/** More turns than any case has. */
export const mostTurns = 500;
export const pdfName = "paper.pdf";

/** The tools of a case. */
export function toolsOf({ kind, count }: Case): readonly ("lookup" | "child")[] {
  if (kind === "children") return ["child"];
  return kind === "text" || (kind === "start" && count === 0) ? [] : ["lookup"];
}

/** The case of a child: one answer without tools. */
export const childCase: Case = { kind: "start", count: 0 };

let pdf: Buffer | undefined;
/** 2 MB that begin and end as a PDF does. */
export function pdfOf(): Buffer {
  if (pdf) return pdf;
  pdf = Buffer.alloc(2_000_000);
  let state = 1;
  for (let index = 0; index < pdf.length; index++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    pdf[index] = state >> 16;
  }
  pdf.write("%PDF-1.7\n", 0);
  pdf.write("\n%%EOF\n", pdf.length - 7);
  return pdf;
}

/** Throws unless the answer is that of an agent that did what the case is about. */
export function check({ kind, count }: Case, text: string): void {
  if (kind === "text" ? text.length !== 5 * count : text !== "done") throw new Error(`answered ${text.slice(0, 80)}`);
}

export function parseCase(name: string): Case {
  const [kind, count] = name.split("-");
  return { kind: kind as Case["kind"], count: Number(count) };
}
