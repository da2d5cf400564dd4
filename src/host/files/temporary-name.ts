import type { OwnWrites } from "./own-writes.ts";

/** The identity of this process in names of temporaries: those of killed processes are removed, those of living ones stay. */
export interface Writer {
  /** Distinguishes machines and containers that share a folder. */
  readonly machine: string;
  readonly process: number;
  isAlive(process: number): boolean;
  now(): number;
  /** Unguessable letters and digits. */
  randomName(): string;
  /** Notes writes while a command runs. */
  readonly writes?: OwnWrites;
}

const pattern = /^\.llm-do-([a-z0-9]+)-(\d+)-[a-z0-9]+\.tmp$/;
const oldMilliseconds = 10 * 60_000;

/** Creates a name that says nothing about the target. */
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

/** Returns whether the name is a temporary or a lock, which exist beside a file while it is written. */
export function isTransientName(name: string): boolean {
  return name.startsWith(".llm-do-") && (isTemporaryName(name) || lockPattern.test(name));
}

export function isTemporaryName(name: string): boolean {
  return pattern.test(name);
}

/** Returns whether the temporary's process has died on this machine, or it is older than any write takes. */
export function isLeftOver(name: string, modifiedMilliseconds: number, writer: Writer): boolean {
  const [, machine, process] = pattern.exec(name) ?? [];
  if (machine === undefined) return false;
  if (writer.now() - modifiedMilliseconds > oldMilliseconds) return true;
  return machine === writer.machine && !writer.isAlive(Number(process));
}
