import type { ShellWord } from "../parse/plan.ts";
import { type OptionTable, optionTable, type ReadOptions, readOptions, type TableTraits } from "./options.ts";

/** Knowledge of one start of one program, from its arguments alone. */
export interface ProgramReading {
  /** Reasons to ask, even where a rule allows the program. */
  readonly hatches: readonly Hatch[];
  /** Effect on the paths among its arguments. `text`: they are no paths. `unknown`: it could write them. */
  readonly effect: Effect;
  /** Indexes of words that are no paths: patterns, little programs, messages. */
  readonly texts?: ReadonlySet<number>;
  /** Indexes of words that are written although `effect` is `read`, or the other way round. */
  readonly writes?: ReadonlySet<number>;
  readonly reads?: ReadonlySet<number>;
  /** Indexes of words that are moved elsewhere. */
  readonly moves?: ReadonlySet<number>;
  /** Places of its sources, if its target is a folder. */
  readonly lands?: Landing;
  /** Protected names that it writes by itself, and cannot do without. */
  readonly opens?: readonly string[];
  /** Names that only an approver can open: with them a program makes others run what it likes. */
  readonly opensIfAsked?: readonly string[];
  /** No argument does harm: variables and leading globs are fine. */
  readonly takesAnything?: boolean;
  /** Programs that it starts itself. */
  readonly inner?: readonly InnerCommand[];
  /** Other words for the same start, in which a rule that asks or blocks could name it: `git push` for `git -C . push`. */
  readonly also?: readonly ShellWord[];
  /** It may start something that its words do not show. */
  readonly startsUnknown?: boolean;
  /** Scripts among its words that it runs. */
  readonly scripts?: readonly ShellWord[];
}

export type Effect = "read" | "write" | "unknown" | "text";

export interface Landing {
  readonly into: string;
  /** Below `into`, by the names of the sources. */
  readonly paths: readonly string[];
  /** The target can be nothing but a folder. */
  readonly isSure: boolean;
  /** Links in folders that are its sources stay links. */
  readonly keepsLinks: boolean;
}

export interface Hatch {
  /** Continues a sentence: `find: -delete removes files`. */
  readonly why: string;
  /** An argument that lifts this where the rule's pattern spells it out: then its author meant just that. */
  readonly unlessSpelt?: string;
  /** It may start something that the words do not show. */
  readonly starts?: true;
}

export interface InnerCommand {
  readonly words: readonly ShellWord[];
  /** True: a command of its own, which a rule must cover. False: part of the program's own doing, which asks anyway. */
  readonly mustBeCovered: boolean;
  /** It gets arguments that come from elsewhere. */
  readonly takesMore?: boolean;
}

/** A program's words, itself first, and whether it is given any input. */
export interface ProgramStart {
  readonly words: readonly ShellWord[];
  readonly hasInput: boolean;
}

/** One row of the table of programs. */
export interface Program {
  /** The options with which it does no harm. Absent where they are not read by a table. */
  readonly options?: OptionTable;
  readonly read: (start: ProgramStart) => ProgramReading;
}

export type Programs = Readonly<Record<string, Program>>;

/** A start of a program whose options were read. */
export interface ReadStart extends ProgramStart, ReadOptions {
  /** Values of the operands. */
  readonly values: readonly string[];
}

export interface ProgramTraits extends TableTraits {
  /** Continues a sentence about an option that the table does not have, or marks as dangerous. */
  readonly otherwise?: string;
  /** Options that the table does not have are free. */
  readonly isOpen?: boolean;
  /** Words with which it starts something that its words do not show, where it has an option that asks. */
  readonly runs?: RegExp;
  /** Adds hatches behind that of the options. Default of `effect`: `read`, or `write` with a dangerous option. */
  readonly look?: (start: ReadStart) => Partial<ProgramReading>;
}

/** A program that does what `look` says, and asks for options that its table does not know to be harmless. */
export function program(
  options: string,
  { otherwise, isOpen, runs: runsWith, look, ...traits }: ProgramTraits = {},
): Program & { readonly options: OptionTable } {
  const table = optionTable(options, traits);
  const read = (start: ProgramStart): ProgramReading => {
    const found = readOptions(start.words, table);
    const { options: some, operands, unknown, danger } = found;
    const values = operands.map((index) => start.words[index]?.value ?? "");
    const { hatches = [], ...more } = look?.({ ...start, options: some, operands, unknown, danger, values }) ?? {};
    const option = otherwise === undefined ? (danger ?? unknown) : unknown;
    const why = otherwise ?? (danger === undefined ? notKnown : "can run programs, write, or read elsewhere");
    const starts = runsWith !== undefined && start.words.some(({ value }, index) => index > 0 && runsWith.test(value));
    const isFree = option === undefined || (isOpen === true && danger === undefined);
    const ofOptions = isFree ? [] : [(starts ? runs : hatch)(`\`${option}\` ${why}`)];
    return { effect: danger === undefined ? "read" : "write", ...more, hatches: [...ofOptions, ...hatches] };
  };
  return { options: table, read };
}

export const notKnown = "is not known to be harmless";

export function hatch(why: string, unlessSpelt?: string): Hatch {
  return unlessSpelt === undefined ? { why } : { why, unlessSpelt };
}

/** The same where it may start something that the words do not show. */
export function runs(why: string, unlessSpelt?: string): Hatch {
  return { ...hatch(why, unlessSpelt), starts: true };
}

/** Nothing is known but what it does to its paths. */
export function plain(effect: Effect): Program {
  return { read: () => ({ hatches: [], effect }) };
}

/** Always asks. `runsWith`: words with which it starts something that they do not show; true stands for any. */
export function asking(why: string, runsWith: RegExp | boolean): Program {
  return {
    read: ({ words }) => {
      const starts = runsWith === true || (runsWith !== false && words.slice(1).some(({ value }) => runsWith.test(value)));
      return { hatches: [(starts ? runs : hatch)(why)], effect: "unknown" };
    },
  };
}

/** Does what the rule says, unless one of its words is like this: then it runs programs. */
export function unlike(pattern: RegExp, why: string): Program {
  return {
    read: ({ words }) => {
      const found = words.slice(1).find(({ value }) => pattern.test(value));
      return { hatches: found === undefined ? [] : [runs(`\`${found.value}\` ${why}`)], effect: "unknown" };
    },
  };
}
