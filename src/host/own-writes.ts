import type { EntryFacts } from "./directory.ts";

/**
 * What this process wrote while a command ran: a file that somebody was asked about must not be taken for one that the
 * command brought. Files by content, so that what a command does to one afterwards is the command's again.
 */
export class OwnWrites {
  readonly #keys = new Set<string>();
  #watchers = 0;

  /** Notes writes until it is called back. */
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
