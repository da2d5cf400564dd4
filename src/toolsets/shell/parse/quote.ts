import { nameSet } from "../../../util/text/name-set.ts";

/** Characters that mean themselves in every shell, wherever they stand in a word. */
const plain = /^[A-Za-z0-9_./:@%+,-][A-Za-z0-9_./:@%+,=^-]*$/;

/** Words that a shell would not take for a program's name if they were bare. */
const reserved = nameSet("if then elif else fi time for in until while do done case esac coproc select function [[ ]] { } !");

/** A word that a shell reads as exactly `value`: bare where that is safe. */
export function quoteWord(value: string): string {
  if (plain.test(value) && !reserved.has(value)) return value;
  return quoteLiteral(value);
}

/** As `quoteWord`, for a program's name: `A=1` in front of a command would be an assignment, and `-p` behind `time` its option. */
export function quoteProgram(value: string): string {
  return value.includes("=") || value.startsWith("-") ? quoteLiteral(value) : quoteWord(value);
}

export function quoteLiteral(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** Names a word in a sentence: quoted as a user would write it, or as it stands where only the shell knows it. */
export function nameWord({ kind, value }: { readonly kind: string; readonly value: string }): string {
  return `\`${kind === "static" ? showWord(value) : value.replaceAll("\n", "\\n")}\``;
}

/** One line for a person: as `quoteWord`, with line ends and tabs spelt out. */
export function showWord(value: string): string {
  if (!/[\n\t]/.test(value)) return quoteWord(value);
  const escaped = value.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return `$'${escaped}'`;
}
