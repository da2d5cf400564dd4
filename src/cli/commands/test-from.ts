import { join, relative } from "node:path";
import { addToTests, NoCase } from "../../cases/case-of-run.ts";
import { readCaseOf } from "../../cases/read-case-of.ts";
import { findTaken, writeNewFiles } from "../../host/files/new-files.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { showText } from "../../ui/text/show-text.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { commandLine } from "../command-name.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { writeResult, writeStderr } from "../output.ts";
import { findRun } from "../records/find-runs.ts";
import { requireWorker } from "../records/find-step.ts";

/**
 * `llm-do test [TARGET] --from RUN[/CALL]`: adds a case to the tests beside a worker, with what a recorded call of it was asked, and what was
 * answered. It expects what the call did.
 */
export async function testFromCommand(from: string, target: string, name: string | undefined): Promise<number> {
  const [run = "", ...path] = from.split("/");
  const found = await findRun({ run, target: target === "." ? undefined : target, changes: true });
  if (found.isForeign) throw new UsageError(`the record of ${found.runId} came from elsewhere: nothing in it becomes a test`);
  const named = name ?? `as in ${[found.runId, ...path].join("/")}`;
  const findWorker = (step: string) => requireWorker(step, found.root);
  try {
    const read = await found.store.look(found.runId, (record) => readCaseOf(record, { named, call: path.join("/"), findWorker }));
    const { file, item } = await addCase(read);
    await writeResult(escapeText(item, { keepNewlines: true }));
    writeStderr(`llm-do: a case is added to ${showText(file)}; \`${commandLine("test", file, "--filter", named)}\` plays it\n`);
    return exitCodes.done;
  } catch (thrown) {
    throw thrown instanceof NoCase ? new UsageError(thrown.message) : thrown;
  }
}

async function addCase({ folder, test, keys, made }: Awaited<ReturnType<typeof readCaseOf>>) {
  const [taken] = await findTaken(folder, made.keys());
  if (taken !== undefined) throw new UsageError(`${taken}: there is such a file; --name gives the case another name`);
  const { files } = createNodeHost();
  const file = join(folder, test);
  const text = (await files.kind(file)) === "file" ? await files.readText(file) : undefined;
  const added = addToTests(text, test, keys);
  await writeNewFiles(folder, made, () => files.writeAtomically(file, added.text));
  return { file: relative(process.cwd(), file), item: added.item };
}
