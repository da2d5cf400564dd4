import { exitCodeOfFailure, UsageError } from "./exit-codes.ts";
import { writeStderr } from "./output.ts";
import { createProgram } from "./program.ts";

/** The command line. Sets the exit code; the process ends when nothing is left to do. */
export async function main(argv: readonly string[]): Promise<void> {
  process.stdout.on("error", () => undefined);
  process.stderr.on("error", () => undefined);
  const exit = { code: 0 };
  try {
    await createProgram(exit).parseAsync(splitPrompt(argv), { from: "user" });
  } catch (thrown) {
    exit.code = reportFailure(thrown);
  }
  process.exitCode = exit.code;
}

/** Everything after `--` is prompt, however many words it has. */
function splitPrompt(argv: readonly string[]): string[] {
  const dashes = argv.indexOf("--");
  if (dashes < 0) return [...argv];
  return [...argv.slice(0, dashes), "--", argv.slice(dashes + 1).join(" ")];
}

function reportFailure(thrown: unknown): number {
  if (isCommanderEnd(thrown)) return thrown.exitCode === 0 ? 0 : 2;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const hint = thrown instanceof UsageError ? "; see llm-do --help" : "";
  writeStderr(`llm-do: ${message}${hint}\n`);
  return exitCodeOfFailure(thrown);
}

function isCommanderEnd(thrown: unknown): thrown is { readonly code: string; readonly exitCode: number } {
  return thrown instanceof Error && "exitCode" in thrown && String((thrown as { code?: unknown }).code).startsWith("commander.");
}
