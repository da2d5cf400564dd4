import type { EntryFacts } from "./directory.ts";

/**
 * Files and folders that this process wrote while a command ran. An approved write must not be taken for one of the command. Files
 * are noted by content: a later change by the command is the command's.
 */
export class OwnWrites {
  readonly #keys = new Set<string>();
  #watchers = 0;

  /** Notes writes until the returned function is called. */
  watch(): () => void {
    this.#watchers++;
    return () => {
      if (--this.#watchers === 0) this.#keys.clear();
    };
  }

  async note(find: () => Promise<EntryFacts | undefined>): Promise<void> {
    if (this.#watchers === 0) return;
    const facts = await find().catch(() => undefined);
    if (facts !== undefined) this.#keys.add(keyOf(facts));
  }

  has(facts: EntryFacts): boolean {
    return this.#keys.has(keyOf(facts));
  }
}

function keyOf(facts: EntryFacts): string {
  return facts.type === "directory" ? facts.identity : facts.version;
}
