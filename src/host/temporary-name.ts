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

const lockPattern = /^\.llm-do-([0-9a-f]{16})-\d+\.lock$/;

/** The files of one lock have the same key, and a level each, from 0. */
export function createLockName(key: string, level: number): string {
  return `.llm-do-${key}-${level}.lock`;
}

export function lockKeyOf(name: string): string | undefined {
  return lockPattern.exec(name)?.[1];
}

/** A temporary or a lock: it stands beside a file while that is written. */
export function isTransientName(name: string): boolean {
  return isTemporaryName(name) || lockPattern.test(name);
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
