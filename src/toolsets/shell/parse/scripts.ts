import type { Folders, ShellPlan, ShellWord } from "./plan.ts";
import { quoteLiteral } from "./quote.ts";

/** The place at which a script starts. */
export interface ScriptContext {
  readonly folders: Folders;
  /** It reads something other than the call's own empty input, and so do its commands. Default false. */
  readonly hasInput?: boolean;
}

/** Reads a text that is a script inside another: what `bash -c` is given. */
export type ReadInner = (text: string, context: ScriptContext) => ShellPlan;

/** Shells whose scripts are read. Others have another grammar, and nobody knows what they make of a text. */
export const knownShells: ReadonlySet<string> = new Set(["bash", "rbash", "sh", "dash"]);

/** Gives every word that a shell would run as a script (`bash -c WORD`, `eval WORD`) what it says, read anew. */
export function attachScripts(words: readonly ShellWord[], read: (text: string) => ShellPlan): readonly ShellWord[] {
  const [program, ...rest] = words;
  if (program?.value === "eval" && rest.every((word) => word.kind === "static")) {
    const script = read(rest.map((word) => word.value).join(" "));
    return words.map((word, index) => (index === 1 ? { ...word, script } : word));
  }
  return words.map((word, index) => {
    if (word.kind !== "static" || !isScriptAt(words, index)) return word;
    return withScript(word, read(word.value), baseName(program?.value ?? ""));
  });
}

/** A shell that is started at once gets its script as it was read; a wrapper could mean the words otherwise. */
function withScript(word: ShellWord, script: ShellPlan, program: string): ShellWord {
  const isBash = program === "bash" || program === "rbash";
  const isSame = knownShells.has(program) && (isBash || script.isBashOnly !== true);
  if (!isSame || script.script === undefined) return { ...word, script };
  return { ...word, script, value: script.script, print: quoteLiteral(script.script) };
}

function isScriptAt(words: readonly ShellWord[], index: number): boolean {
  const flag = words[index - 1]?.value ?? "";
  // Behind `-c`, another option or `--` can stand before the script.
  if (!/^-[a-z]*c[a-z]*$/.test(flag) || words[index]?.value.startsWith("-") === true) return false;
  return words.slice(0, index - 1).some((word) => knownShells.has(baseName(word.value)));
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
