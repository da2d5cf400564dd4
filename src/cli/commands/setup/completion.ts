import type { Command } from "commander";
import { completionScript, type Shell } from "../../completion/scripts.ts";
import { suggest } from "../../completion/suggest.ts";
import type { Candidate } from "../../completion/values.ts";
import { exitCodes } from "../../exit-codes.ts";
import { writeResult } from "../../output.ts";

/** `llm-do completion SHELL`: the script by which a shell completes the words of `llm-do`. */
export async function completionCommand(shell: Shell): Promise<number> {
  await writeResult(completionScript(shell));
  return exitCodes.done;
}

/**
 * Answers the script of a shell: the candidates for the last word, below a line that says whether files fit, too. zsh and fish hand over
 * the words up to the cursor; bash its line up to there, and the characters at which it breaks words.
 */
export async function completeCommand(program: Command, [shell, ...given]: readonly string[]): Promise<number> {
  const [text = "", breaks = ""] = given;
  const line = shell === "bash" ? splitLine(text) : undefined;
  const { candidates, takesFiles } = await suggest(program, line?.words.slice(1) ?? given);
  const shown = candidates.filter(({ value }) => !/\p{Cc}/u.test(value));
  const lines = shown.map((candidate) => (line ? toBashWord(candidate, line, breaks) : toDescribed(candidate)));
  await writeResult(`${[takesFiles ? "files" : "nothing", ...lines].join("\n")}\n`);
  return exitCodes.done;
}

function toDescribed({ value, description }: Candidate): string {
  return description === "" ? value : `${value}\t${description.replace(/\s+/g, " ")}`;
}

interface Line {
  readonly words: readonly string[];
  /** The quote that the last word stands in; empty if none. */
  readonly quote: string;
}

/** Splits a line of bash at its blanks. Nothing in it is expanded. */
function splitLine(text: string): Line {
  const words = [""];
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    const isEscaped = character === "\\" && quote !== "'";
    if (!isEscaped && quote === "" && /\s/.test(character)) {
      if (words.at(-1) !== "") words.push("");
    } else if (!isEscaped && (character === quote || (quote === "" && /["']/.test(character))))
      quote = quote === "" ? character : "";
    else words.push((words.pop() ?? "") + (isEscaped ? text.charAt(++at) : character));
  }
  return { words, quote };
}

/** Bash replaces what follows the last of its word breaks, and takes the replacement as it is typed. */
function toBashWord({ value }: Candidate, { words, quote }: Line, breaks: string): string {
  const word = words.at(-1) ?? "";
  const last =
    quote === "" ? Math.max(...[":", "="].filter((one) => breaks.includes(one)).map((one) => word.lastIndexOf(one)), -1) : -1;
  const rest = value.slice(last + 1);
  return quote === "" ? rest.replace(/[^\w./:=@%+,~-]/g, "\\$&") : rest;
}
