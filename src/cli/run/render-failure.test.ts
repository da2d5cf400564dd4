import { expect, test } from "vitest";
import { JournalError } from "../../journal/journal.ts";
import { UnreadableJournal } from "../../journal/unreadable-journal.ts";
import { RunError } from "../../runtime/run-error.ts";
import { renderFailure } from "./render-failure.ts";

const readOnly = new Error("EROFS: read-only file system");
const copy = "restore the run's folder from a copy, or begin the run anew";

test.each<[string, Error, string]>([
  ["a new journal", new JournalError(readOnly, true), "--store FOLDER records it elsewhere, and --no-journal not at all"],
  ["a journal that a run goes on with", new JournalError(readOnly), "make it writable, and try again"],
  ["a damaged journal", new UnreadableJournal("/runs/1/journal.jsonl", 3, "this line is not JSON"), copy],
])("says what to do about %s", async (_, error, todo) => {
  for (const thrown of [error, new RunError("configuration", error.message, { cause: error })])
    expect(await renderFailure(thrown, {})).toBe(`llm-do: ${error.message}; ${todo}\n`);
});
