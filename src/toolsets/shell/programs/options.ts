import type { ShellWord } from "../parse/plan.ts";

/** What a program's options are, as far as they are known to do no harm. */
export interface OptionTable {
  /** Single letters without a value. */
  readonly flags?: string;
  /** Single letters with a value, in the same word or the next. */
  readonly valued?: string;
  /** Single letters whose value can only be in the same word. */
  readonly attached?: string;
  /** Long names (or words with one dash, spelt with it) without a value, or with one behind `=`. Blank-separated. */
  readonly long?: string;
  /** Long names whose value is behind `=` or in the next word. */
  readonly longValued?: string;
  /** The first operand ends the options: what follows belongs to another program. */
  readonly stops?: boolean;
  /** `-20`: a dash and digits is an option too. */
  readonly digits?: boolean;
}

export interface ReadOption {
  /** `-o`, `--output`. */
  readonly name: string;
  readonly value: string | undefined;
  /** Of the word that holds the value, or the option itself. */
  readonly index: number;
}

export interface ReadOptions {
  readonly options: readonly ReadOption[];
  /** Indexes of the words that are no options. */
  readonly operands: readonly number[];
  /** The first option that the table does not have, as it was written. */
  readonly unknown: string | undefined;
}

/** Reads arguments by a table of what is harmless; reading goes on behind operands, as GNU programs do. */
export function readOptions(words: readonly ShellWord[], table: OptionTable, from = 1): ReadOptions {
  const options: ReadOption[] = [];
  const operands: number[] = [];
  let unknown: string | undefined;
  for (let index = from; index < words.length; index++) {
    const { value } = words[index] as ShellWord;
    const isOperand = value === "-" || !value.startsWith("-");
    if (value === "--" || (isOperand && table.stops === true)) {
      for (let rest = index + (isOperand ? 0 : 1); rest < words.length; rest++) operands.push(rest);
      break;
    }
    if (isOperand) {
      operands.push(index);
      continue;
    }
    const read = value.startsWith("--") ? readLong(words, index, table) : readShort(words, index, table);
    if (read === undefined) unknown ??= value;
    else {
      options.push(...read);
      index = Math.max(index, read.at(-1)?.index ?? index);
    }
  }
  return { options, operands, unknown };
}

function readLong(words: readonly ShellWord[], index: number, table: OptionTable): readonly ReadOption[] | undefined {
  const { value } = words[index] as ShellWord;
  const equals = value.indexOf("=");
  const name = equals === -1 ? value : value.slice(0, equals);
  if (equals !== -1)
    return has(table.long, name) || has(table.longValued, name) ? [{ name, value: value.slice(equals + 1), index }] : undefined;
  if (has(table.longValued, name)) return withNext(words, index, name);
  return has(table.long, name) ? [{ name, value: undefined, index }] : undefined;
}

/** A value of `--` asks: a program that takes no value there would end its options. */
function withNext(words: readonly ShellWord[], index: number, name: string): readonly ReadOption[] | undefined {
  const value = words[index + 1]?.value;
  return value === "--" ? undefined : [{ name, value, index: index + 1 }];
}

function readShort(words: readonly ShellWord[], index: number, table: OptionTable): readonly ReadOption[] | undefined {
  const { value } = words[index] as ShellWord;
  // Options with one dash and a whole name, as of find and go.
  const single = readLong(words, index, table);
  if (single !== undefined) return single;
  if (table.digits === true && isNumber(value.slice(1))) return [{ name: value, value: undefined, index }];
  const read: ReadOption[] = [];
  for (let at = 1; at < value.length; at++) {
    const letter = value.charAt(at);
    const rest = value.slice(at + 1);
    if (table.attached?.includes(letter)) return [...read, { name: `-${letter}`, value: rest, index }];
    if (table.valued?.includes(letter)) {
      const found = rest === "" ? withNext(words, index, `-${letter}`) : [{ name: `-${letter}`, value: rest, index }];
      return found && [...read, ...found];
    }
    if (!table.flags?.includes(letter)) return undefined;
    read.push({ name: `-${letter}`, value: undefined, index });
  }
  return read;
}

function has(names: string | undefined, name: string): boolean {
  return names !== undefined && !name.includes(" ") && ` ${names} `.includes(` ${name} `);
}

function isNumber(text: string): boolean {
  return text !== "" && [...text].every((character) => character >= "0" && character <= "9");
}

/** Options that do harm; all others are taken to do none. */
export interface DangerTable {
  /** Letters: wherever one stands in a word of short options, it is taken for the option. */
  readonly letters?: string;
  /** Long names with both dashes, blank-separated; abbreviations count. */
  readonly long?: string;
  /** Names with one dash; abbreviations do not count, a second dash does. */
  readonly single?: string;
}

/** The first dangerous option. What stands behind `--` is none, unless `--` could be the value of an option before it. */
export function findDanger(words: readonly ShellWord[], table: DangerTable): string | undefined {
  for (const [index, { value }] of words.entries()) {
    if (index === 0 || !value.startsWith("-") || value === "-") continue;
    if (value === "--" && (index === 1 || words[index - 1]?.value.startsWith("-") === false)) return undefined;
    if (isDangerous(value, table)) return value;
  }
  return undefined;
}

function isDangerous(value: string, table: DangerTable): boolean {
  const name = value.split("=", 1)[0] ?? value;
  const singles = (table.single ?? "").split(" ").filter((one) => one !== "");
  if (singles.some((one) => name === one || name === `-${one}`)) return true;
  if (!value.startsWith("--")) return [...value.slice(1)].some((letter) => table.letters?.includes(letter));
  const longs = (table.long ?? "").split(" ").filter((one) => one !== "");
  return name.length > 2 && longs.some((one) => one.startsWith(name));
}
