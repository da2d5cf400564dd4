import type { ShellWord } from "../parse/plan.ts";
import { type OptionTable, readOptions } from "./options.ts";

/** What is known of one start of one program, from its arguments alone. */
export interface ProgramReading {
  /** Why a person must look, even where a rule allows the program. */
  readonly hatches: readonly Hatch[];
  /** What it does to paths among its arguments. `text`: they are no paths. `unknown`: it could write them. */
  readonly effect: Effect;
  /** Indexes of words that are no paths: patterns, little programs, messages. */
  readonly texts?: ReadonlySet<number>;
  /** Indexes of words that are written although `effect` is `read`, or the other way round. */
  readonly writes?: ReadonlySet<number>;
  readonly reads?: ReadonlySet<number>;
  /** Indexes of words that are moved elsewhere. */
  readonly moves?: ReadonlySet<number>;
  /** Protected names that it writes by itself, and cannot do without. */
  readonly opens?: readonly string[];
  /** Those that only somebody who is asked can open: with them a program makes others run what it likes. */
  readonly opensIfAsked?: readonly string[];
  /** Whatever its arguments turn out to be, they do no harm: variables and leading globs are fine. */
  readonly takesAnything?: boolean;
  /** Programs that it starts itself. */
  readonly inner?: readonly InnerCommand[];
  /** It may start something that its words do not tell. */
  readonly startsUnknown?: boolean;
  /** Scripts among its words that it runs. */
  readonly scripts?: readonly ShellWord[];
}

export type Effect = "read" | "write" | "unknown" | "text";

export interface Hatch {
  /** Continues a sentence: `find: -delete removes files`. */
  readonly why: string;
  /** An argument that lifts this where the rule's pattern spells it out: then its author meant just that. */
  readonly unlessSpelt?: string;
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

export type ReadProgram = (start: ProgramStart) => ProgramReading;

export function hatch(why: string, unlessSpelt?: string): Hatch {
  return unlessSpelt === undefined ? { why } : { why, unlessSpelt };
}

/** A program that always needs a person's eye. */
export function always(why: string): ReadProgram {
  return () => ({ hatches: [hatch(why)], effect: "unknown" });
}

/** Nothing is known but what it does to its paths. */
export function plain(effect: Effect): ReadProgram {
  return () => ({ hatches: [], effect });
}

/** A program that only reads with the options of its table that are not dangerous. */
export function knownOptions(table: OptionTable): ReadProgram {
  return ({ words }) => {
    const { unknown, danger } = readOptions(words, table);
    return { effect: danger === undefined ? "read" : "write", hatches: optionHatches({ unknown, danger }) };
  };
}

/** Nothing is known of a program but some options that are dangerous. */
export function dangerousOptions(table: OptionTable): ReadProgram {
  return ({ words }) => {
    const { danger } = readOptions(words, table);
    return { effect: "unknown", hatches: optionHatches({ unknown: undefined, danger }) };
  };
}

function optionHatches({ unknown, danger }: { readonly unknown: string | undefined; readonly danger: string | undefined }) {
  if (danger !== undefined) return [hatch(`\`${danger}\` can run programs, write, or read elsewhere`)];
  return unknown === undefined ? [] : [hatch(`\`${unknown}\` is not known to be harmless`)];
}
