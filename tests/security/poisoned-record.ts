import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { runCli, writeProgram } from "../cli/run-cli.ts";

export interface RecordedEntry {
  readonly type: string;
  readonly [field: string]: unknown;
}

/** The record of a run, which a test can change as somebody who can write it could. */
export interface PoisonedRecord {
  /** The program's folder. */
  readonly root: string;
  readonly runId: string;
  /** The record's folder. */
  readonly directory: string;
  readonly read: () => readonly RecordedEntry[];
  readonly write: (entries: readonly RecordedEntry[]) => void;
}

/** Runs a program that waits for the approval of a call, and finds its record. */
export async function recordWaiting(
  call: unknown,
  files: Readonly<Record<string, string>> = {},
  toolsets = "{ filesystem: {} }",
): Promise<PoisonedRecord> {
  const root = await writeProgram({
    "main.worker": `---\nmodel: scripted:script.yaml\nsandbox: { paths: { w: { root: ./w, mode: rw } } }\ntoolsets: ${toolsets}\n---\nWork.\n`,
    "script.yaml": `- reply: { calls: [${JSON.stringify(call)}] }\n- reply: done\n`,
    "w/a": "1",
    ...files,
  });
  const held = await runCli(["run", ".", "go", "--hold", "--trust"], { cwd: root });
  if (held.exitCode !== 4) throw new Error(`the run does not wait: ${held.exitCode} ${held.stderr}`);
  return findRecord(root);
}

/** The only record of a program. */
export function findRecord(root: string): PoisonedRecord {
  const [journal, ...others] = [root, join(dirname(root), "state")].flatMap(journalsBelow);
  if (journal === undefined || others.length > 0) throw new Error(`not one record: ${[journal, ...others].join(" ")}`);
  const directory = dirname(journal);
  return {
    root,
    runId: directory.split("/").at(-1) ?? "",
    directory,
    read: () =>
      readFileSync(journal, "utf8")
        .trim()
        .split("\n")
        .map((line): RecordedEntry => JSON.parse(line)),
    write: (entries) => writeFileSync(journal, entries.map((entry, n) => `${JSON.stringify({ ...entry, n })}\n`).join("")),
  };
}

function journalsBelow(folder: string): readonly string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith("journal.jsonl")).map((name) => join(folder, name));
}
