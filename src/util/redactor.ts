import { findShapes, openShapeAt } from "./secret-shapes.ts";

/** A value that must not be shown, and the name that stands for it. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

interface FoundSecret {
  readonly name: string;
  readonly index: number;
  readonly end: number;
}

/** Shorter values are too common to be told from ordinary text. */
const shortestSecret = 8;

export interface RedactorOptions {
  /** Whether texts with the shape of a credential are replaced too. Default true. */
  readonly shapes?: boolean;
}

/**
 * Replaces secret values by `⟦secret:NAME⟧`, in texts and in every string (and key) of a JSON value: those that are known,
 * and whatever has the shape of a credential.
 */
export class Redactor {
  readonly #secrets: readonly Secret[];
  readonly #findShapes: typeof findShapes;
  /** Of the known values; undefined where there are none. */
  readonly #pattern: RegExp | undefined;
  readonly #names: ReadonlyMap<string, string>;
  /** A value can be hidden from the pattern where JSON escapes its characters. */
  readonly #isEscaped: boolean;

  constructor(secrets: readonly Secret[], { shapes = true }: RedactorOptions = {}) {
    this.#secrets = secrets;
    this.#findShapes = shapes ? findShapes : () => [];
    this.#names = new Map(secrets.filter(({ value }) => value.length >= shortestSecret).flatMap(spellings));
    this.#isEscaped = [...this.#names.keys()].some((value) => /["\\\p{Cc}]/u.test(value));
    const longestFirst = [...this.#names.keys()].sort((a, b) => b.length - a.length);
    this.#pattern = longestFirst.length > 0 ? new RegExp(longestFirst.map(escapePattern).join("|"), "g") : undefined;
  }

  /** `from`: where to begin; what stands before it is looked at, and not told. */
  text(text: string, from = 0): string {
    return this.#replace(text, from);
  }

  #replace(text: string, from: number, names?: Set<string>): string {
    let told = "";
    let at = from;
    for (const { index, end, name } of this.#findAll(text, from)) {
      told += `${text.slice(at, index)}⟦secret:${name}⟧`;
      at = end;
      names?.add(name);
    }
    return told + text.slice(at);
  }

  /**
   * Replaces the known values alone, and names those that it replaced: for a question, in which the shape of a credential,
   * which anybody can write, must hide nothing.
   */
  hideKnown<T>(value: T): { readonly shown: T; readonly hidden: readonly string[] } {
    const hidden = new Set<string>();
    const shown = new Redactor(this.#secrets, { shapes: false }).#json(value, hidden);
    return { shown, hidden: [...hidden].sort() };
  }

  /** How much of a text can be told by now: what follows is, or could become, a secret that goes on. */
  closedLength(text: string, from = 0): number {
    const closed = Math.max(Math.min(text.length - this.#openValue(text), openShapeAt(text)), from);
    for (const { index, end } of this.#findAll(text, from)) {
      if (index < closed && end > closed) return index;
    }
    return closed;
  }

  /** The first one first; of one that begins in another, what goes on behind it. */
  *#findAll(text: string, from: number): Iterable<FoundSecret> {
    let at = from;
    let known = this.#findKnown(text, at);
    for (const shape of this.#findShapes(text, from)) {
      for (; known && known.index <= shape.index; known = this.#findKnown(text, at)) {
        yield known;
        at = known.end;
      }
      if (shape.end <= at) continue;
      yield { ...shape, index: Math.max(shape.index, at) };
      at = shape.end;
      if (known && known.index < at) known = this.#findKnown(text, at);
    }
    for (; known; known = this.#findKnown(text, known.end)) yield known;
  }

  #findKnown(text: string, from: number): FoundSecret | undefined {
    if (!this.#pattern) return undefined;
    const pattern = this.#pattern;
    pattern.lastIndex = from;
    const match = pattern.exec(text);
    return match ? { index: match.index, end: pattern.lastIndex, name: this.#names.get(match[0]) ?? "" } : undefined;
  }

  /** How many characters at the end of a text are the beginning of a known value. */
  #openValue(text: string): number {
    let longest = 0;
    for (const secret of this.#names.keys()) {
      for (let length = Math.min(secret.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(secret.slice(0, length))) longest = length;
      }
    }
    return longest;
  }

  json<T>(value: T): T {
    return this.#json(value);
  }

  #json<T>(value: T, names?: Set<string>): T {
    const text = JSON.stringify(value);
    if (text === undefined || !(this.#isEscaped || this.#holdsAny(text))) return value;
    return JSON.parse(text, (_key, member: unknown) => this.#member(member, names)) as T;
  }

  #holdsAny(text: string): boolean {
    for (const _ of this.#findAll(text, 0)) return true;
    return false;
  }

  #member(member: unknown, names?: Set<string>): unknown {
    if (typeof member === "string") return this.#replace(member, 0, names);
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    const keys = Object.keys(member);
    if (keys.every((key) => this.text(key) === key)) return member;
    return Object.fromEntries(Object.entries(member).map(([key, value]) => [this.#replace(key, 0, names), value]));
  }
}

/** A secret with characters that JSON escapes can also be met in its escaped form, inside JSON that is a string. */
function spellings({ name, value }: Secret): [string, string][] {
  const escaped = JSON.stringify(value).slice(1, -1);
  return escaped === value
    ? [[value, name]]
    : [
        [value, name],
        [escaped, name],
      ];
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

const secretName = /(key|token|secret|password|passwd|credential|private)s?(_|$)/i;

/** The variables of an environment whose names say that they hold a secret. */
export function environmentSecrets(environment: Readonly<Record<string, string | undefined>>): Secret[] {
  return Object.entries(environment).flatMap(([name, value]) => (value && secretName.test(name) ? [{ name, value }] : []));
}
