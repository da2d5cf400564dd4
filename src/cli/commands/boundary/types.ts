import { readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { printProgramTypes, typesMark } from "../../../boundary/types/print-program-types.ts";
import { renderForTerminal } from "../../../diagnostics/render-diagnostic.ts";
import { createNodeHost } from "../../../host/node-host.ts";
import { asStarted } from "../../command-name.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { writeResult, writeStderr } from "../../output.ts";
import { type CompileFlags, compileToShow } from "../../programs/open-program.ts";

export interface TypesFlags extends CompileFlags {
  /** Writes nothing. The exit code is 1 where the file is missing or old. */
  readonly check?: boolean;
}

/** `llm-do types [TARGET]`: writes `llm-do.d.ts` beside the program, so that calls by name are typed in its code. */
export async function typesCommand(targets: readonly string[], flags: TypesFlags): Promise<number> {
  const { outline, program, diagnostics, trust } = await compileToShow(targets, flags);
  if (!outline) {
    writeStderr(`${asStarted(await renderForTerminal(diagnostics))}\n`);
    return exitCodes.usage;
  }
  const path = join(outline.root, "llm-do.d.ts");
  const shown = relative(process.cwd(), path) || path;
  const text = printProgramTypes(outline, trust ? undefined : program);
  const present = await readFile(path, "utf8").catch(() => undefined);
  if (flags.check) return checkTypes({ shown, isSame: present === text, isThere: present !== undefined });
  if (present !== undefined && !present.startsWith(typesMark))
    throw new UsageError(`${shown} is there and was not written by llm-do types: move it away, or give it another name`);
  if (present !== text) await createNodeHost().files.writeAtomically(path, text);
  await writeResult(`${shown}\n`);
  return exitCodes.done;
}

function checkTypes({ shown, isSame, isThere }: { readonly shown: string; readonly isSame: boolean; readonly isThere: boolean }) {
  if (isSame) return exitCodes.done;
  const folder = dirname(shown);
  writeStderr(
    `llm-do: ${shown} ${isThere ? "is old" : "is missing"}: run llm-do types ${folder === "." ? "" : folder}`.trimEnd(),
  );
  writeStderr("\n");
  return exitCodes.failed;
}
