import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { createNodeHost } from "../../../host/node-host.ts";
import { expandTexts } from "../../../journal/expand-texts.ts";
import { readJournal } from "../../../journal/read-journal.ts";
import { renderPage } from "../../../ui/page/render-page.ts";
import { UsageError } from "../../exit-codes.ts";
import { writeResult } from "../../output.ts";
import { findRun } from "../../records/find-runs.ts";

export interface ViewFlags {
  readonly out?: string;
  /** False for `--no-open`. */
  readonly open: boolean;
}

/** In bytes: of one text, and of all texts that are kept beside the journal. */
const bounds = { longest: 200_000, total: 20_000_000 };

/** `llm-do view [RUN]`: writes a page of a run, prints its path, and opens it where there is a browser. */
export async function viewCommand(run: string, target: string | undefined, { out, open }: ViewFlags): Promise<number> {
  const { runId, store, isForeign = false } = await findRun({ run, target });
  const host = createNodeHost();
  const page = await store.look(runId, async (record) => {
    const journal = await readJournal(record);
    return renderPage({ ...journal, isForeign, entries: await expandTexts(record, { ...bounds, entries: journal.entries }) });
  });
  if (page === undefined) throw new UsageError(`nothing is recorded of \`${runId}\`: it ended before it began`);
  const path = out === undefined ? await store.keepPage(runId, page) : resolve(host.workingDirectory, out);
  if (out !== undefined) await host.files.writeAtomically(path, page, 0o600);
  await writeResult(`${path}\n`);
  if (open) openPage(path);
  return 0;
}

const openers: Readonly<Record<string, string>> = { darwin: "open", win32: "explorer", linux: "xdg-open" };

/** Does nothing where there is no screen, and where there is no program that opens pages. */
function openPage(path: string): void {
  const { CI, DISPLAY, WAYLAND_DISPLAY } = process.env;
  const opener = openers[process.platform];
  const hasScreen = process.platform !== "linux" || Boolean(DISPLAY || WAYLAND_DISPLAY);
  if (CI || opener === undefined || !hasScreen) return;
  const child = spawn(opener, [path], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
