import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { canonicalJson } from "../util/json/canonical-json.ts";
import { sha256 } from "../util/sha256.ts";
import type { CallFile, RecordedCall } from "./calls/recorded-calls.ts";

/** A line of a case file: what a worker was asked, and what it answered or should have. */
export interface Case {
  readonly worker: string;
  readonly input: JsonValue;
  readonly files: readonly CallFile[];
  readonly fragments: readonly string[];
  readonly output: JsonValue;
  /** The run and call that it was recorded in; absent for a case that a person wrote. */
  readonly from?: string;
  readonly by?: "code" | "prompt";
  readonly model?: string;
  readonly usd?: number;
  readonly ms?: number;
  /** A person's judgement of the recorded output. Its `output` wins over the recorded one. */
  readonly label?: CaseLabel;
}

export type CaseLabel =
  | { readonly verdict: "right" | "wrong" }
  /** The output that would have been right. */
  | { readonly verdict: "corrected"; readonly output: JsonValue };

/** A line that is no case. */
export class CaseLineError extends Error {
  /** From 1. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`);
    this.name = "CaseLineError";
    this.line = line;
  }
}

/** Prints a call as a line of a case file, with its line break. Throws a `TypeError` for a call without an output. */
export function printCase({ worker, input, files, fragments, output, from, by, model, usd, ms }: RecordedCall): string {
  if (output === undefined) throw new TypeError(`${from} has no output`);
  const optional = { ...(files.length > 0 ? { files } : {}), ...(fragments.length > 0 ? { fragments } : {}) };
  const meta = { from, by, ...(model === undefined ? {} : { model }), ...(usd === undefined ? {} : { usd }), ms };
  return `${JSON.stringify({ worker, input, ...optional, output, ...meta })}\n`;
}

const keys = ["worker", "input", "files", "fragments", "output", "from", "by", "model", "usd", "ms", "label"];

/**
 * Reads one line of a case file (JSON Lines, UTF-8). Returns undefined for an empty line. Throws a `CaseLineError`, with the number of the
 * line, for what is no case, and for a case of another worker than `worker`.
 */
export function parseCase(text: string, line: number, { worker }: { readonly worker?: string } = {}): Case | undefined {
  if (text.trim() === "") return undefined;
  const fail = (message: string): never => {
    throw new CaseLineError(line, message);
  };
  const value = parseLine(text, fail);
  const unknown = Object.keys(value).find((name) => !keys.includes(name));
  if (unknown !== undefined) fail(`there is no key \`${unknown}\`; a case has ${keys.map((name) => `\`${name}\``).join(", ")}`);
  const { files = [], fragments = [], by, label } = value;
  if (typeof value["worker"] !== "string") fail("`worker` has to be the name of the worker that was asked");
  if (worker !== undefined && value["worker"] !== worker)
    fail(`this is a case of the worker \`${value["worker"]}\`, and cases of \`${worker}\` were asked for`);
  for (const name of ["input", "output"]) if (!(name in value)) fail(`\`${name}\` is missing`);
  if (!Array.isArray(files) || !files.every(isFile)) fail("`files` has to be a list of { name, mediaType, bytes, sha256 }");
  if (!Array.isArray(fragments) || !fragments.every((one) => typeof one === "string"))
    fail("`fragments` has to be a list of texts");
  if (by !== undefined && by !== "code" && by !== "prompt") fail("`by` has to be `code` or `prompt`");
  if (label !== undefined && !isLabel(label))
    fail('`label` has to be { verdict: "right" }, "wrong", or "corrected" with `output`');
  for (const name of ["from", "model"])
    if (value[name] !== undefined && typeof value[name] !== "string") fail(`\`${name}\` has to be a text`);
  for (const name of ["usd", "ms"])
    if (value[name] !== undefined && typeof value[name] !== "number") fail(`\`${name}\` has to be a number`);
  return { ...value, files, fragments } as unknown as Case;
}

function parseLine(text: string, fail: (message: string) => never): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    fail("this is not JSON: a case file has one JSON object on each line");
  }
  return isRecord(value) ? (value as JsonObject) : fail("a case is a JSON object");
}

function isFile(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { name, mediaType, bytes, sha256: digest } = value;
  const isDigest = typeof digest === "string" && /^[0-9a-f]{64}$/.test(digest);
  return typeof name === "string" && typeof mediaType === "string" && typeof bytes === "number" && isDigest;
}

function isLabel(value: unknown): boolean {
  if (!isRecord(value)) return false;
  const { verdict } = value;
  return verdict === "right" || verdict === "wrong" || (verdict === "corrected" && "output" in value);
}

/** The output that a candidate is held to: a person's word before the record. Undefined if the recorded one is wrong and no other is known. */
export function expectedOutput({ output, label }: Case): JsonValue | undefined {
  if (label?.verdict === "corrected") return label.output;
  return label?.verdict === "wrong" ? undefined : output;
}

/** Equal for equal questions. */
export function digestOfCase({ input, files, fragments }: Case): string {
  return sha256(canonicalJson([input, files.map((file) => file.sha256), [...fragments]]));
}
