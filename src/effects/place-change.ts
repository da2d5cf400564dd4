import { findChangedInstruction, type InstructionLine } from "./describe-change.ts";
import type { RequestChanged } from "./policies/request-changed.ts";

/** Reads a source of a program, by its path in the program's folder. */
export type ReadSource = (path: string) => Promise<string>;

export interface SourcePlace {
  /** Relative to the program's folder. */
  readonly file: string;
  /** From 1. Absent if the text is not found in the file as it is, as one of a template. */
  readonly line?: number;
}

/** Puts the place of changed instructions before a message: `main.worker:14: main, turn 1: the instructions changed: …`. */
export async function withPlace(message: string, change: RequestChanged, readSource: ReadSource): Promise<string> {
  const [instruction, { source }] = [findChangedInstruction(change), change.today];
  const place = instruction && source !== undefined ? await placeInstruction(instruction, source, readSource) : undefined;
  return place ? `${renderPlace(place)}: ${message}` : message;
}

/** Finds a line of instructions in the file of its worker. Undefined if the file cannot be read, as for a worker in code. */
export async function placeInstruction(
  instruction: InstructionLine,
  file: string,
  readSource: ReadSource,
): Promise<SourcePlace | undefined> {
  const source = await readSource(file).catch(() => undefined);
  if (source === undefined) return undefined;
  const lines = source.split("\n");
  const body = lines.indexOf("---", 1) + 1;
  const distance = (index: number) => Math.abs(index - (body + instruction.line - 1));
  const [nearest] = lines
    .flatMap((text, index) => (text.trim() === instruction.text.trim() ? [index] : []))
    .sort((a, b) => distance(a) - distance(b));
  return { file, ...(nearest === undefined ? {} : { line: nearest + 1 }) };
}

function renderPlace({ file, line }: SourcePlace): string {
  return `${file}${line === undefined ? "" : `:${line}`}`;
}
