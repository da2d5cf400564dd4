import { didYouMean, quoteNames } from "./text/did-you-mean.ts";

/** A form of values. `wanted` completes: `x` must be … */
export interface OptionForm {
  readonly wanted: string;
  fits(value: unknown): boolean;
  /** The words that `value` can be, for a suggestion. */
  readonly words?: readonly string[];
}

/** A form for each option of `T`: an option that is added to the type alone does not compile. */
export type OptionTable<T> = { readonly [Key in keyof T]-?: OptionForm };

export interface OptionCheck<T> {
  /** The path of the options in messages: `tool`, `run.approval`. */
  readonly path: string;
  readonly table: OptionTable<T>;
  readonly required?: readonly (keyof T & string)[];
  /** Older names of options and of words, with a sentence that says what to write instead. */
  readonly renamed?: Readonly<Record<string, string>>;
}

/**
 * Throws a `TypeError` for the first option that is unknown, missing or of another form. A value of `undefined` is as good as none.
 */
export function checkOptions<T>(given: unknown, { path, table, required = [], renamed = {} }: OptionCheck<T>): void {
  if (typeof given !== "object" || given === null) throw new TypeError(`\`${path}\` must be an object of options`);
  const forms: Readonly<Record<string, OptionForm>> = table;
  const note = (word: unknown) => (typeof word === "string" && Object.hasOwn(renamed, word) ? renamed[word] : undefined);
  for (const [key, value] of Object.entries(given)) {
    const form = Object.hasOwn(forms, key) ? forms[key] : undefined;
    if (form === undefined) {
      const names = Object.keys(forms);
      throw new TypeError(
        `\`${path}.${key}\` is no option; ${note(key) ?? didYouMean(key, names) ?? `the options: ${quoteNames(names)}`}`,
      );
    }
    if (value === undefined || form.fits(value)) continue;
    const hint = note(value) ?? (typeof value === "string" ? didYouMean(value, form.words ?? []) : undefined);
    throw new TypeError(`\`${path}.${key}\` must be ${form.wanted}${hint === undefined ? notWord(value, form) : `; ${hint}`}`);
  }
  for (const key of required) {
    if ((given as Readonly<Record<string, unknown>>)[key] !== undefined) continue;
    throw new TypeError(`\`${path}.${key}\` is missing; it must be ${forms[key]?.wanted}`);
  }
}

/** Names a short text that stands where one of some words is wanted. */
function notWord(value: unknown, { words }: OptionForm): string {
  return words && typeof value === "string" && value.length <= 40 ? `, not \`${value}\`` : "";
}

export function oneOf(...words: readonly string[]): OptionForm {
  return { words, wanted: quoteNames(words, " or "), fits: (value) => words.includes(value as string) };
}

function ofType(type: "boolean" | "string" | "function", wanted: string): OptionForm {
  return { wanted, fits: (value) => typeof value === type };
}

export const flagOption: OptionForm = ofType("boolean", "`true` or `false`");
export const textOption: OptionForm = ofType("string", "a text");
export const functionOption: OptionForm = ofType("function", "a function");
export const objectOption: OptionForm = { wanted: "an object", fits: isObject };
export const listOption: OptionForm = listOf("a list", () => true);
export const textsOption: OptionForm = listOf("a list of texts", (value) => typeof value === "string");

/** The longest time that timers can wait for. */
const longestTimeout = 2_000_000;

export const secondsOption: OptionForm = {
  wanted: `a number of seconds, more than 0 and at most ${longestTimeout}`,
  fits: (seconds) => typeof seconds === "number" && seconds > 0 && seconds <= longestTimeout,
};

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `wanted` names the list, and what its members are. */
export function listOf(wanted: string, fits: (member: unknown) => boolean): OptionForm {
  return { wanted, fits: (value) => Array.isArray(value) && value.every(fits) };
}
/** Checked where it is used. */
export const anyOption: OptionForm = { wanted: "given", fits: () => true };
