import type { ShellWord } from "../parse/plan.ts";

/** How many values an option takes. `optional`: one at most, and only in the same word. */
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
}

type TableTraits = Partial<Pick<OptionTable, "style" | "stops" | "digits" | "apart">>;

/**
 * Reads a table, one option a word: `n|quiet` takes no value, `e|expression=` takes one in the same word or the next, `arg==` takes
 * two, `color?` can have one in the same word. A `!` in front: dangerous. Names are written without their dashes: a single character
 * has one, others have two (all have one where the style is `words`); one that is written with its dash keeps it. A name belongs to
 * one row only.
 */
export function optionTable(text: string, traits: TableTraits = {}): OptionTable {
  const { style = "letters", stops = false, digits = false, apart = false } = traits;
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
  return { rows, byName, style, stops, digits, apart };
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
  /** Of the word that holds the last value, or the option itself. */
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

/** Reads arguments as the program does; reading goes on behind operands, unless the table stops there. */
export function readOptions(words: readonly ShellWord[], table: OptionTable, from = 1): ReadOptions {
  const options: ReadOption[] = [];
  const operands: number[] = [];
  let unknown: string | undefined;
  let danger: string | undefined;
  /** Whether the word before could take `--` for its value. */
  let isOpen = false;
  for (let index = from; index < words.length; index++) {
    const { value } = words[index] as ShellWord;
    const isOperand = value === "-" || !value.startsWith("-");
    if (isOperand ? table.stops : value === "--" && !isOpen) {
      const first = isOperand ? index : index + 1;
      operands.push(...[...words.keys()].slice(first));
      break;
    }
    if (isOperand) operands.push(index);
    const read = isOperand || value === "--" ? nothing : readWord(words, index, table);
    options.push(...read.options);
    if (read.isUnknown || read.isDangerous) unknown ??= value;
    if (read.isDangerous) danger ??= value;
    isOpen = read.isUnknown;
    index = Math.max(index, read.options.at(-1)?.index ?? index);
  }
  return { options, operands, unknown, danger };
}

interface ReadWord {
  readonly options: readonly ReadOption[];
  readonly isUnknown: boolean;
  readonly isDangerous: boolean;
}

const nothing: ReadWord = { options: [], isUnknown: false, isDangerous: false };

function readWord(words: readonly ShellWord[], index: number, table: OptionTable): ReadWord {
  const isName = words[index]?.value.startsWith("--") === true || table.style === "words";
  return isName ? readName(words, index, table) : readLetters(words, index, table);
}

function readName(words: readonly ShellWord[], index: number, table: OptionTable): ReadWord {
  const { value } = words[index] as ShellWord;
  const equals = value.indexOf("=");
  const written = equals === -1 ? value : value.slice(0, equals);
  const name = table.style === "words" ? written.replace(/^--/, "-") : written;
  const row = table.byName.get(name);
  if (row === undefined) return { options: [], isUnknown: true, isDangerous: abbreviatesDanger(name, table) };
  if (equals === -1) return takeValues(words, index, row);
  const option = { name: row.names[0] ?? name, value: value.slice(equals + 1), index };
  return { options: [option], isUnknown: row.arity === "none" || row.arity === "two", isDangerous: row.isDangerous };
}

function abbreviatesDanger(name: string, { rows }: OptionTable): boolean {
  if (!name.startsWith("--") || name.length < 3) return false;
  return rows.some(({ isDangerous, names }) => isDangerous && names.some((one) => one.startsWith(name)));
}

/** From the words behind the option. A value of `--` is unclear: a program of another version could end its options there. */
function takeValues(words: readonly ShellWord[], index: number, { names, arity, isDangerous }: OptionRow): ReadWord {
  const count = arity === "one" ? 1 : arity === "two" ? 2 : 0;
  const values = words.slice(index + 1, index + 1 + count).map(({ value }) => value);
  if (values.includes("--")) return { options: [], isUnknown: true, isDangerous };
  const option = { name: names[0] ?? "", value: values.at(-1), index: index + count };
  return { options: [option], isUnknown: false, isDangerous };
}

function readLetters(words: readonly ShellWord[], index: number, table: OptionTable): ReadWord {
  const { value } = words[index] as ShellWord;
  if (table.digits && /^-\d+$/.test(value)) {
    return { options: [{ name: value, value: undefined, index }], isUnknown: false, isDangerous: false };
  }
  if (value.length > 2 && table.byName.has(value.split("=", 1)[0] ?? value)) return readName(words, index, table);
  const options: ReadOption[] = [];
  let isDangerous = false;
  for (let at = 1; at < value.length; at++) {
    const row = table.byName.get(`-${value.charAt(at)}`);
    if (row === undefined || (table.style === "single-letters" && value.length > 2 && (at > 1 || row.arity === "none"))) {
      const isFeared = [...value.slice(at)].some((letter) => table.byName.get(`-${letter}`)?.isDangerous === true);
      return { options, isUnknown: true, isDangerous: isDangerous || isFeared };
    }
    isDangerous ||= row.isDangerous;
    const name = row.names[0] ?? "";
    const rest = value.slice(at + 1);
    if (row.arity === "none") options.push({ name, value: undefined, index });
    else if (table.apart && rest !== "" && !/^\d+$/.test(rest)) return { options, isUnknown: true, isDangerous };
    else if (rest !== "" || row.arity === "optional") {
      return { options: [...options, { name, value: rest === "" ? undefined : rest, index }], isUnknown: false, isDangerous };
    } else {
      const taken = takeValues(words, index, row);
      return { options: [...options, ...taken.options], isUnknown: taken.isUnknown, isDangerous };
    }
  }
  return { options, isUnknown: false, isDangerous };
}

/** The first option under one of these names. */
export function findOption({ options }: Pick<ReadOptions, "options">, ...names: readonly string[]): ReadOption | undefined {
  return options.find(({ name }) => names.includes(name));
}
