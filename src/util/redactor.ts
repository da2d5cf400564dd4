/** A value that must not be shown, and the name that stands for it. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** Shorter values are too common to be told from ordinary text. */
const shortestSecret = 8;

/** Replaces known secret values by `⟦secret:NAME⟧`, in texts and in every string (and key) of a JSON value. */
export class Redactor {
  readonly #pattern: RegExp | undefined;
  readonly #names: ReadonlyMap<string, string>;

  constructor(secrets: readonly Secret[]) {
    this.#names = new Map(secrets.filter(({ value }) => value.length >= shortestSecret).flatMap(spellings));
    const longestFirst = [...this.#names.keys()].sort((a, b) => b.length - a.length);
    this.#pattern = longestFirst.length > 0 ? new RegExp(longestFirst.map(escapePattern).join("|"), "g") : undefined;
  }

  text(text: string): string {
    if (!this.#pattern) return text;
    return text.replace(this.#pattern, (found) => `⟦secret:${this.#names.get(found)}⟧`);
  }

  /** How many characters at the end of a text are the beginning of a secret, and could become one. */
  openEnd(text: string): number {
    let longest = 0;
    for (const secret of this.#names.keys()) {
      for (let length = Math.min(secret.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(secret.slice(0, length))) longest = length;
      }
    }
    return longest;
  }

  /** Redacts a value that is already JSON text, in place of its strings one by one. */
  json<T>(value: T): T {
    if (!this.#pattern) return value;
    const text = JSON.stringify(value);
    return text === undefined ? value : (JSON.parse(text, (_key, member: unknown) => this.#member(member)) as T);
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
