import type { OwnWrites } from "./own-writes.ts";

/** Who makes temporaries here, so that what a killed process left can be told from what a living one is writing. */
export interface Writer {
  /** Tells machines and containers that share a folder apart. */
  readonly machine: string;
  readonly process: number;
  isAlive(process: number): boolean;
  now(): number;
  /** Letters and digits that nobody can guess. */
  randomName(): string;
  /** Remembers what it wrote, where anybody wants to know. */
  readonly writes?: OwnWrites;
}

const pattern = /^\.llm-do-([a-z0-9]+)-(\d+)-[a-z0-9]+\.tmp$/;
const oldMilliseconds = 10 * 60_000;

/** Never derived from the target's name. */
export function createTemporaryName(writer: Writer): string {
  return `.llm-do-${writer.machine}-${writer.process}-${writer.randomName()}.tmp`;
}

export function isTemporaryName(name: string): boolean {
  return pattern.test(name);
}

/** Left over: its process has died on this machine, or it is older than any write takes. */
export function isLeftOver(name: string, modifiedMilliseconds: number, writer: Writer): boolean {
  const [, machine, process] = pattern.exec(name) ?? [];
  if (machine === undefined) return false;
  if (writer.now() - modifiedMilliseconds > oldMilliseconds) return true;
  return machine === writer.machine && !writer.isAlive(Number(process));
}
