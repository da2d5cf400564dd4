/** Folder in which a simple command runs, as components below the root of the scope that the call's `cwd` lies in. */
export type Folder = readonly string[];

/** All folders that it can be. Undefined if they are not known. */
export type Folders = readonly Folder[] | undefined;

/**
 * One word as the shell hands it over. `static`: exactly `value`. `glob`: names that match `value`. `variable`: plain `$NAME`s
 * and text. `dynamic`: anything else that only the shell can tell.
 */
export interface ShellWord {
  readonly kind: "static" | "glob" | "variable" | "dynamic";
  /** By the shell's own quoting rules; of other kinds than `static` a likeness. */
  readonly value: string;
  /** The static text that the word surely begins with. */
  readonly head: string;
  /** The word written anew so that a shell reads just this. Undefined if that is not possible. */
  readonly print: string | undefined;
  /** The word read as a script, where a shell is given it to run. */
  readonly script?: ShellPlan;
}

export interface PlannedRedirect {
  /** `free`: between descriptors, or the null device. `text`: a here-document or here-string. */
  readonly type: "free" | "read" | "write" | "text";
  readonly target: ShellWord | undefined;
}

/** One program with its arguments, as one process would be started. */
export interface SimpleCommand {
  /** Program first; empty for bare assignments and redirections. */
  readonly words: readonly ShellWord[];
  /** Names of variables that are set in front of it. */
  readonly assignments: readonly string[];
  readonly redirects: readonly PlannedRedirect[];
  /** Something other than the call's own empty input: a pipe, a file, a text. */
  readonly hasInput: boolean;
  readonly folders: Folders;
}

/** A command line, read by the shell's own grammar. Plain data: nothing has been decided. */
export interface ShellPlan {
  /** Every simple command in it, however deep, in the order of the text. */
  readonly commands: readonly SimpleCommand[];
  /** Parts of its structure that need a person's eye, each in a few words. */
  readonly findings: readonly string[];
  /** Why it cannot be read with certainty. */
  readonly uncertain?: string;
  /** Why it is never run, even if approved. */
  readonly refused?: string;
  /** The whole of it written anew from what was read: what is judged is what runs. Undefined if that cannot be. */
  readonly script?: string;
  /** `script` is bash, and not what every shell reads alike. */
  readonly isBashOnly?: boolean;
  /** Present if it is one program that needs no shell. */
  readonly argv?: readonly string[];
}

/** Every command of a line, those of scripts among its words included. */
export function* everyCommand({ commands }: ShellPlan): Generator<SimpleCommand> {
  for (const command of commands) {
    for (const { script } of command.words) if (script !== undefined) yield* everyCommand(script);
    yield command;
  }
}
