import { dirname } from "node:path";
import type { Host } from "../host/host.ts";
import type { Fact } from "../protocol/fact.ts";
import { isRecord } from "../protocol/json.ts";
import { parseJson } from "../util/json/parse-json.ts";

/** The two runs of a case. */
export type RunOfCase = "case" | "judge";

/** The answers that a case was recorded with: of the model, and of the tools that do not run for real. */
export interface Recording {
  /** The model of workers that name none. */
  readonly model?: string;
  readonly facts: Readonly<Record<RunOfCase, readonly Fact[]>>;
}

/** A recording that cannot be read. */
export class UnreadableRecording extends Error {
  constructor(path: string, why: string) {
    super(`the recording ${path} cannot be read: ${why}; \`llm-do test --record\` makes it anew`);
    this.name = "UnreadableRecording";
  }
}

/** Reads a recording. Undefined if there is none. Rejects with an `UnreadableRecording`. */
export async function readRecording(host: Pick<Host, "files">, path: string): Promise<Recording | undefined> {
  if ((await host.files.kind(path)) === undefined) return undefined;
  const text = await host.files.readText(path);
  const lines = text.split("\n").flatMap((line, index) => (line === "" ? [] : [parseLine(line, path, index + 1)]));
  const [head, ...rest] = lines;
  if (head?.["type"] !== "recording" || head["v"] !== 1) throw new UnreadableRecording(path, "line 1 is not the head of one");
  const of = (run: RunOfCase) => rest.filter((line) => line["run"] === run).map(({ run: _, ...fact }) => fact as unknown as Fact);
  return {
    ...(typeof head["model"] === "string" ? { model: head["model"] } : {}),
    facts: { case: of("case"), judge: of("judge") },
  };
}

function parseLine(line: string, path: string, number: number): Record<string, unknown> {
  const value = parseJson(line);
  if (isRecord(value) && typeof value["type"] === "string") return value;
  throw new UnreadableRecording(path, `line ${number} is not an entry`);
}

/** Writes a recording whole or not at all. */
export async function writeRecording(host: Pick<Host, "files">, path: string, recording: Recording): Promise<void> {
  await host.files.makeDirectory(dirname(path));
  await host.files.writeAtomically(path, printRecording(recording));
}

/** A head, then a fact on each line. */
export function printRecording({ model, facts }: Recording): string {
  const head = { v: 1, type: "recording", ...(model === undefined ? {} : { model }) };
  const entries = (["case", "judge"] as const).flatMap((run) => facts[run].map((fact) => ({ run, ...fact })));
  return [head, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("");
}
