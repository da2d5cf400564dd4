import { clipText } from "../../util/text/clip-text.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { dollars } from "../render-usage.ts";

/** A recorded call of a worker, as `llm-do calls --json` has it. */
export interface ShownCall {
  readonly from: string;
  readonly input: unknown;
  readonly output: unknown;
  readonly by: string;
  readonly usd: number | undefined;
  readonly ms: number;
  readonly time: number;
  readonly marks: readonly string[];
}

/** Renders a call in two lines: when, by what, for how much, and where; then the heads of input and output, in `columns` characters. */
export function renderCall({ from, input, output, by, usd, ms, time, marks }: ShownCall, columns: number): string {
  const when = new Date(time).toISOString().slice(0, 16).replace("T", " ");
  const price = usd === undefined ? "$?" : dollars(usd);
  const marked = marks.length === 0 ? "" : `  (${marks.join(", ")})`;
  const head = `${when}  by ${by}  ${price}  ${renderMs(ms)}  ${escapeText(from)}${marked}`;
  const width = Math.max(10, Math.floor((columns - 6) / 2));
  return `${head}\n  ${headOf(input, width)} -> ${headOf(output, width)}\n`;
}

export interface CallsSum {
  readonly count: number;
  /** How many code answered. */
  readonly code: number;
  /** How many have a known price. */
  readonly known: number;
  readonly usd: number;
}

export function renderCallsFoot({ count, code, known, usd }: CallsSum): string {
  const atLeast = known < count ? "at least " : "";
  return `${count} ${count === 1 ? "call" : "calls"}, ${code} by code, ${atLeast}${dollars(usd)}\n`;
}

function headOf(value: unknown, width: number): string {
  const single = typeof value === "object" && value !== null ? Object.values(value) : [];
  const plain = single.length === 1 && typeof single[0] === "string" ? single[0] : value;
  const text = plain === undefined ? "(none)" : typeof plain === "string" ? plain : JSON.stringify(plain);
  return clipText(escapeText(text.replace(/\s+/g, " ")), width);
}

export function renderMs(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
