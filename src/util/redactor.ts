import { nameOfShape, openShapeAt, secretShapes } from "./secret-shapes.ts";

/** A value that must not be shown, and the name that stands for it. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Shorter values are too common to be told from ordinary text. */
const shortestSecret = 8;

/**
 * Replaces secret values by `⟦secret:NAME⟧`, in texts and in every string (and key) of a JSON value: those that are known,
 * and whatever has the shape of a credential.
 */
export class Redactor {
  readonly #pattern: RegExp;
  readonly #names: ReadonlyMap<string, string>;
  /** A value can be hidden from the pattern where JSON escapes its characters. */
  readonly #isEscaped: boolean;

  constructor(secrets: readonly Secret[]) {
    this.#names = new Map(secrets.filter(({ value }) => value.length >= shortestSecret).flatMap(spellings));
    this.#isEscaped = [...this.#names.keys()].some((value) => /["\\\p{Cc}]/u.test(value));
    const longestFirst = [...this.#names.keys()].sort((a, b) => b.length - a.length);
    this.#pattern = new RegExp([...longestFirst.map(escapePattern), secretShapes].join("|"), "g");
  }

  /** `from`: where to begin; what stands before it is looked at, and not told. */
  text(text: string, from = 0): string {
    let told = "";
    let at = from;
    for (const { index, found } of this.#findAll(text, from)) {
      told += `${text.slice(at, index)}⟦secret:${this.#names.get(found) ?? nameOfShape(found)}⟧`;
      at = index + found.length;
    }
    return told + text.slice(at);
  }

  /** How much of a text can be told by now: what follows is, or could become, a secret that goes on. */
  closedLength(text: string, from = 0): number {
    const closed = Math.max(Math.min(text.length - this.#openValue(text), openShapeAt(text)), from);
    for (const { index, found } of this.#findAll(text, from)) {
      if (index < closed && index + found.length > closed) return index;
    }
    return closed;
  }

  *#findAll(text: string, from: number): Iterable<{ readonly index: number; readonly found: string }> {
    const pattern = new RegExp(this.#pattern);
    pattern.lastIndex = from;
    for (let match = pattern.exec(text); match; match = pattern.exec(text)) yield { index: match.index, found: match[0] };
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
    const text = JSON.stringify(value);
    if (text === undefined || !(this.#isEscaped || text.search(this.#pattern) >= 0)) return value;
    return JSON.parse(text, (_key, member: unknown) => this.#member(member)) as T;
  }

  #member(member: unknown): unknown {
    if (typeof member === "string") return this.text(member);
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    const keys = Object.keys(member);
    if (keys.every((key) => this.text(key) === key)) return member;
    return Object.fromEntries(Object.entries(member).map(([key, value]) => [this.text(key), value]));
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
