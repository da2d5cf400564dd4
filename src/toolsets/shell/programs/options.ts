import type { ShellWord } from "../parse/plan.ts";

/** Number of values that an option takes. `optional`: one at most, and only in the same word. */
export type Arity = "none" | "optional" | "one" | "two";

/** One option of a program, under all its names. */
export interface OptionRow {
  /** As they are written, dashes included. The first one names the option. */
  readonly names: readonly string[];
  readonly arity: Arity;
  /** Runs programs, writes, or reads elsewhere: no rule for the program allows it. */
  readonly isDangerous: boolean;
}

/**
 * `letters`: as getopt reads them, `-rf` is `-r -f`. `single-letters`: one letter a word, perhaps with its value. `words`: names
 * with one dash or two, never letters.
 */
export type OptionStyle = "letters" | "single-letters" | "words";

export interface OptionTable {
  readonly rows: readonly OptionRow[];
  readonly byName: ReadonlyMap<string, OptionRow>;
  readonly style: OptionStyle;
  /** The first operand ends the options: what follows belongs to another program. */
  readonly stops: boolean;
  /** `-20`: a dash and digits is an option too. */
  readonly digits: boolean;
  /** Values stand in the next word, also where letters follow in the same one; only a number can be in it. */
  readonly apart: boolean;
  /** `--` ends the options. False: what looks like an option behind it is read as one. Default: not where the style is `words`. */
  readonly ends: boolean;
  /** Options count only before the first operand. Behind it nothing is understood that looks like one: programs differ there. */
  readonly first: boolean;
}

export type TableTraits = Partial<Pick<OptionTable, "style" | "stops" | "digits" | "apart" | "ends" | "first">>;

/**
 * Reads a table, one option a word: `n|quiet` takes no value, `e|expression=` takes one in the same word or the next, `arg==` takes
 * two, `color?` can have one in the same word. A `!` in front: dangerous. Names are written without their dashes: a single character
 * has one, others have two (all have one where the style is `words`); one that is written with its dash keeps it. A name belongs to
 * one row only.
 */
export function optionTable(text: string, traits: TableTraits = {}): OptionTable {
  const { style = "letters", stops = false, digits = false, apart = false, ends = style !== "words", first = false } = traits;
  const rows = text
    .split(/\s+/)
    .filter((row) => row !== "")
    .map((row) => parseRow(row, style));
  const byName = new Map<string, OptionRow>();
  for (const row of rows) {
    for (const name of row.names) {
      if (byName.has(name)) throw new Error(`invariant: the option ${name} is declared twice`);
      byName.set(name, row);
    }
  }
  return { rows, byName, style, stops, digits, apart, ends, first };
}

const suffixes: Readonly<Record<string, Arity>> = { "": "none", "?": "optional", "=": "one", "==": "two" };

function parseRow(row: string, style: OptionStyle): OptionRow {
  const [, danger = "", names = "", suffix = ""] = /^(!?)([^=?]+)(=*|\?)$/.exec(row) ?? [];
  const arity = suffixes[suffix];
  if (names === "" || arity === undefined) throw new Error(`invariant: the option row ${row} cannot be read`);
  const dashed = names.split("|").map((name) => (name.startsWith("-") ? name : `${dashes(name, style)}${name}`));
  return { names: dashed, arity, isDangerous: danger !== "" };
}

function dashes(name: string, style: OptionStyle): string {
  return style === "words" || name.length === 1 ? "-" : "--";
}

export interface ReadOption {
  /** The first name of its row: `-o`, also where `--output` was written. */
  readonly name: string;
  readonly value: string | undefined;
  /** Index of the word that holds the last value, or the option itself. */
  readonly index: number;
}

export interface ReadOptions {
  readonly options: readonly ReadOption[];
  /** Indexes of the words that are no options. */
  readonly operands: readonly number[];
  /** The first option that the table does not have or that is dangerous, as it was written. */
  readonly unknown: string | undefined;
  /** The first dangerous one, abbreviations and letters among others included. */
  readonly danger: string | undefined;
}

/** Reads arguments as the program does. Operands do not end the options, unless the table stops there. */
export function readOptions(words: readonly ShellWord[], table: OptionTable, from = 1): ReadOptions {
  return new OptionReader(words, table).read(from);
}

const valueCounts: Readonly<Record<Arity, number>> = { none: 0, optional: 0, one: 1, two: 2 };

class OptionReader implements ReadOptions {
  readonly options: ReadOption[] = [];
  readonly operands: number[] = [];
  unknown: string | undefined;
  danger: string | undefined;
  readonly #words: readonly ShellWord[];
  readonly #table: OptionTable;
  #index = 0;

  constructor(words: readonly ShellWord[], table: OptionTable) {
    this.#words = words;
    this.#table = table;
  }

  read(from: number): ReadOptions {
    /** The word before was not understood, and could take `--` for its value. */
    let isOpen = false;
    for (this.#index = from; this.#index < this.#words.length; this.#index++) {
      const value = this.#word;
      const isOperand = value === "-" || !value.startsWith("-");
      const isLate = this.#table.first && this.operands.length > 0;
      const isEnd = value === "--" && this.#table.ends && !isLate;
      if (isOperand ? this.#table.stops : isEnd && !isOpen) {
        this.operands.push(...[...this.#words.keys()].slice(isOperand ? this.#index : this.#index + 1));
        break;
      }
      if (isOperand) this.operands.push(this.#index);
      const isUnderstood = isOperand || isEnd || (!isLate && this.#readOption(value));
      if (!isUnderstood) this.unknown ??= value;
      isOpen = !isUnderstood;
    }
    return this;
  }

  get #word(): string {
    return this.#words[this.#index]?.value ?? "";
  }

  /** False where the option is not understood. Moves on to the word that holds its last value. */
  #readOption(value: string): boolean {
    const { style, digits, byName } = this.#table;
    if (value.startsWith("--") || style === "words") return this.#readName(value);
    if (digits && /^-\d+$/.test(value)) return this.#add(value, undefined);
    const isName = value.length > 2 && byName.has(value.split("=", 1)[0] ?? value);
    return isName ? this.#readName(value) : this.#readLetters(value);
  }

  #readName(value: string): boolean {
    const { style, byName, rows } = this.#table;
    const [written = "", ...behind] = value.split("=");
    const name = style === "words" ? written.replace(/^--/, "-") : written;
    const row = byName.get(name);
    if (row === undefined) {
      const isAbbreviated = name.startsWith("--") && name.length > 2;
      const means = rows.filter(({ names }) => isAbbreviated && names.some((one) => one.startsWith(name)));
      return this.#fear(means.some(({ isDangerous }) => isDangerous));
    }
    if (behind.length === 0) return this.#takeValues(row);
    this.#fear(row.isDangerous);
    this.#add(row.names[0], behind.join("="));
    return row.arity === "one" || row.arity === "optional";
  }

  #readLetters(value: string): boolean {
    const { style, apart, byName } = this.#table;
    for (let at = 1; at < value.length; at++) {
      const row = byName.get(`-${value.charAt(at)}`);
      const rest = value.slice(at + 1);
      const isCombined = style === "single-letters" && value.length > 2 && (at > 1 || row?.arity === "none");
      if (row === undefined || isCombined) {
        return this.#fear([...value.slice(at)].some((letter) => byName.get(`-${letter}`)?.isDangerous === true));
      }
      this.#fear(row.isDangerous);
      if (row.arity === "none") this.#add(row.names[0], undefined);
      else if (apart && rest !== "" && !/^\d+$/.test(rest)) return false;
      else if (rest === "") return this.#takeValues(row);
      else return this.#add(row.names[0], rest);
    }
    return true;
  }

  /**
   * From the words behind the option. A value of `--` is unclear, and so is one that would do harm as an option: another version or
   * subcommand of the program could take no value there.
   */
  #takeValues({ names, arity, isDangerous }: OptionRow): boolean {
    this.#fear(isDangerous);
    const values = this.#words.slice(this.#index + 1, this.#index + 1 + valueCounts[arity]);
    if (values.some((word) => word.value === "--" || !this.#isHarmless(word))) return false;
    this.#index += valueCounts[arity];
    return this.#add(names[0], values.at(-1)?.value);
  }

  /** True where a word is no option, or one that the table knows to be harmless. */
  #isHarmless(word: ShellWord): boolean {
    return !/^--?[A-Za-z]/.test(word.value) || readOptions([word], this.#table, 0).unknown === undefined;
  }

  #add(name = "", value: string | undefined): true {
    this.options.push({ name, value, index: this.#index });
    return true;
  }

  /** Notes the word as unknown, where it is dangerous. */
  #fear(isDangerous: boolean): false {
    if (isDangerous) this.danger ??= this.#word;
    if (isDangerous) this.unknown ??= this.#word;
    return false;
  }
}

/** The first option under one of these names. */
export function findOption({ options }: Pick<ReadOptions, "options">, ...names: readonly string[]): ReadOption | undefined {
  return options.find(({ name }) => names.includes(name));
}
