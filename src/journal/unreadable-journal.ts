/** A file of a run cannot be read: names the line and its problem. */
export class UnreadableJournal extends Error {
  constructor(path: string, line: number | "last line", problem: string) {
    super(`${path}:${line}: ${problem}`);
    this.name = "UnreadableJournal";
  }
}
