import type { Help } from "commander";
import { exitCodes } from "../exit-codes.ts";

/** The meaning of each exit code; help and docs/cli.md are made from it. */
export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  done: "done; a person, or --reject-all, may have denied something on the way",
  failed: "failed",
  usage: "a mistake on the command line, in the configuration, the program or a script; or a program that is not trusted",
  outputInvalid: "the output does not fit its schema, or is empty",
  approvalNeeded:
    "suspended, and calls wait for an answer (--hold); or something needed approval, and nobody could be asked or answered in time; of check --headless without --approve: a tool always asks",
  denied: "something was denied, and the run stopped for it",
  limit: "a limit was reached, or the answer was cut off; the output is what there was so far",
  provider: "the provider failed, its key is missing or wrong, or the model refused to answer",
  hungUp: "the terminal was closed",
  interrupted: "interrupted (Ctrl-C)",
  terminated: "terminated",
};

/** A code, and its meaning beside it. */
export function renderExitCodes(help: Help, columns: number): string {
  const rows = Object.entries(exitCodes).map(([name, code]) => {
    const meaning = help.boxWrap(exitCodeMeanings[name as keyof typeof exitCodes], columns - 7);
    return `  ${String(code).padEnd(4)} ${meaning.replaceAll("\n", `\n${" ".repeat(7)}`)}`;
  });
  return rows.join("\n");
}
