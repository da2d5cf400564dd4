import { getOrMake } from "../get-or-make.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { holdsLongText } from "../json/plain-json.ts";
import { sha256 } from "../sha256.ts";
import { digestJson, LongTexts, longText, type TextFacts } from "../text/long-texts.ts";
import { findShapes, holdsShape, openShapeAt, shortestShape } from "./secret-shapes.ts";

/** A value that must not be shown, and the name that stands for it. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

interface FoundSecret {
  readonly kind: "known" | "in JSON" | "shape";
  readonly name: string;
  readonly index: number;
  readonly end: number;
}

/** A secret that was replaced in a recorded text. `token` stands for it: `NAME`, or `github-token:3f9a1c`. */
export interface RecordedSecret {
  readonly token: string;
  /** Absent for a secret known by name: its value belongs to the environment. */
  readonly value?: string;
}

/** Shorter values cannot be distinguished from ordinary text. */
const shortestSecret = 8;
/** How deep values are walked before JSON is made of them. */
const deepest = 100;

export interface RedactorOptions {
  /** True: texts with the shape of a credential are replaced, too. Default true. */
  readonly shapes?: boolean;
  /** Tells values of one shape apart: equal values have equal ids. Default: none, and the shape alone stands for the value. */
  readonly identify?: (shape: string, value: string) => string;
}

/** Returns what is written in place of a secret. */
type Write = (found: FoundSecret, value: string) => string;

/**
 * Replaces secrets in texts and in every string (and key) of a JSON value: known values by `⟦secret:NAME⟧`, and what has the
 * shape of a credential by `⟦secret:github-token:3f9a1c⟧`.
 *
 * There are three forms. `text` and `json` are for people and listeners. `record` can be turned back by `restoreSecrets`: it
 * escapes what merely looks like a token. `toDigestForm` is the same in every process, with or without the ids.
 */
export class Redactor {
  readonly #secrets: readonly Secret[];
  readonly #known: KnownValues;
  readonly #hasShapes: boolean;
  /** No shorter text holds a known value or a credential. */
  readonly #shortest: number;
  readonly #identify: ((shape: string, value: string) => string) | undefined;
  readonly #longTexts = new LongTexts((text) => this.#scan(text));

  constructor(secrets: readonly Secret[], { shapes = true, identify }: RedactorOptions = {}) {
    this.#secrets = secrets;
    this.#identify = identify;
    this.#hasShapes = shapes;
    this.#known = Object.isFrozen(secrets) ? getOrMake(kept, secrets, () => findValues(secrets)) : findValues(secrets);
    this.#shortest = Math.min(shapes ? shortestShape : Number.POSITIVE_INFINITY, this.#known.shortest);
  }

  /** `from`: where the returned text begins. What stands before it is only looked at. */
  text(text: string, from = 0): string {
    return this.#replace(text, { from, write: this.#token });
  }

  /** The form of a text in a journal: `restoreSecrets` turns it back. `onSecret` is called for each secret in it. */
  record(text: string, onSecret: (secret: RecordedSecret) => void): string {
    const write: Write = (found, value) => {
      onSecret({ token: this.#recordedName(found, value), ...(found.kind === "shape" ? { value } : {}) });
      return this.#recordedToken(found, value);
    };
    this.look(text);
    if (this.#isKept(text, { literal: escapeTokens })) return text;
    return this.#replace(text, { from: 0, write, literal: escapeTokens });
  }

  /** Names and shapes without ids, for digests and comparisons: a token that could not be restored has the same form. */
  toDigestForm<T>(value: T): T {
    return this.#json(value, { from: 0, write: ({ name }) => `⟦secret:${name}⟧`, literal: withoutIds });
  }

  /**
   * The digest of a JSON value, as a journal may hold it: taken over the form of `record`, in which different values stay different, so
   * that no reader of the journal can check a guessed secret. Without ids it is taken over the value itself: nothing is recorded then.
   */
  digest(value: unknown): string {
    const recorded = { from: 0, write: this.#recordedToken, literal: escapeTokens };
    if (!this.#identify) return digestJson(value, this.look);
    if (holdsLongText(value, longText)) return digestJson(this.#json(value, recorded), this.look);
    const text = canonicalJson(value);
    return this.isPlain(text) ? sha256(text) : sha256(canonicalJson(this.#json(value, recorded)));
  }

  /** Returns what is to be known of a long text; undefined for one that is short, or no Unicode. Remembers the last ones. */
  readonly look = (text: string): TextFacts | undefined => this.#longTexts.look(text);

  /** Returns the SHA-256 of a text's UTF-8, in hex; undefined for a text with a secret. */
  digestOfPublic(text: string): string | undefined {
    const { holdsSecret, digest } = this.look(text) ?? { holdsSecret: this.holdsSecret(text), digest: undefined };
    return holdsSecret ? undefined : (digest ?? sha256(text));
  }

  #nameOf(shape: string, value: string): string {
    return this.#identify ? `${shape}:${this.#identify(shape, value)}` : shape;
  }

  #recordedName({ kind, name }: FoundSecret, value: string): string {
    return kind === "shape" ? this.#nameOf(name, value) : kind === "known" ? name : `${name}:json`;
  }

  readonly #recordedToken: Write = (found, value) => `⟦secret:${this.#recordedName(found, value)}⟧`;

  readonly #token: Write = ({ kind, name }, value) => `⟦secret:${kind === "shape" ? this.#nameOf(name, value) : name}⟧`;

  #replace(text: string, { from, write, literal = (kept) => kept }: Replacing): string {
    let replaced = "";
    let at = from;
    for (const found of this.#findAll(text, from)) {
      replaced += literal(text.slice(at, found.index)) + write(found, text.slice(found.index, found.end));
      at = found.end;
    }
    return replaced + literal(text.slice(at));
  }

  /**
   * Replaces the known values alone, and returns their names. For questions: the shape of a credential, which any text can have,
   * must hide nothing there.
   */
  hideKnown<T>(value: T): { readonly shown: T; readonly hidden: readonly string[] } {
    const hidden = new Set<string>();
    const write: Write = ({ name }) => {
      hidden.add(name);
      return `⟦secret:${name}⟧`;
    };
    const shown = new Redactor(this.#secrets, { shapes: false }).#json(value, { from: 0, write });
    return { shown, hidden: [...hidden].sort() };
  }

  /** Returns how much of a text can be shown: the rest is, or could become, a secret that goes on. */
  closedLength(text: string, from = 0): number {
    const closed = Math.max(Math.min(text.length - this.#openValue(text), openShapeAt(text)), from);
    for (const { index, end } of this.#findAll(text, from)) {
      if (index < closed && end > closed) return index;
    }
    return closed;
  }

  /** Finds secrets in order; of one that begins within another, the part after that. */
  *#findAll(text: string, from: number): Iterable<FoundSecret> {
    let at = from;
    let known = this.#findKnown(text, at);
    for (const shape of this.#hasShapes ? findShapes(text, from) : []) {
      for (; known && known.index <= shape.index; known = this.#findKnown(text, at)) {
        yield known;
        at = known.end;
      }
      if (shape.end <= at) continue;
      yield { kind: "shape", ...shape, index: Math.max(shape.index, at) };
      at = shape.end;
      if (known && known.index < at) known = this.#findKnown(text, at);
    }
    for (; known; known = this.#findKnown(text, known.end)) yield known;
  }

  #findKnown(text: string, from: number): FoundSecret | undefined {
    const { pattern } = this.#known;
    if (!pattern) return undefined;
    pattern.lastIndex = from;
    const match = pattern.exec(text);
    const secret = match ? this.#known.names.get(match[0]) : undefined;
    return match && secret ? { ...secret, index: match.index, end: pattern.lastIndex } : undefined;
  }

  /** Counts the characters at the end of a text that are the beginning of a known value. */
  #openValue(text: string): number {
    let longest = 0;
    for (const secret of this.#known.names.keys()) {
      for (let length = Math.min(secret.length - 1, text.length); length > longest; length--) {
        if (text.endsWith(secret.slice(0, length))) longest = length;
      }
    }
    return longest;
  }

  json<T>(value: T): T {
    return this.#json(value, { from: 0, write: this.#token });
  }

  #json<T>(value: T, replacing: Replacing): T {
    if (this.#isKept(value, replacing)) return value;
    const text = JSON.stringify(value);
    return JSON.parse(text, (_key, member: unknown) => this.#member(member, replacing)) as T;
  }

  /** Returns whether nothing in a value is to be replaced. False for one that is nested deeper: JSON finds cycles. */
  #isKept(value: unknown, replacing: Pick<Replacing, "literal">, depth = deepest): boolean {
    if (typeof value === "string") return !(this.holdsSecret(value) || (replacing.literal && value.includes("⟦")));
    if (typeof value !== "object" || value === null) return true;
    if (depth === 0 || "toJSON" in value) return false;
    if (Array.isArray(value)) {
      for (const item of value) if (!this.#isKept(item, replacing, depth - 1)) return false;
      return true;
    }
    for (const key in value) {
      const member = (value as Record<string, unknown>)[key];
      if (!(this.#isKept(key, replacing) && this.#isKept(member, replacing, depth - 1))) return false;
    }
    return true;
  }

  /** Returns whether a text holds a known value or a credential. */
  holdsSecret(text: string): boolean {
    if (text.length < this.#shortest) return false;
    return this.#longTexts.find(text)?.holdsSecret ?? this.#scan(text);
  }

  #scan(text: string): boolean {
    return this.#findKnown(text, 0) !== undefined || (this.#hasShapes && holdsShape(text));
  }

  /** Returns whether bytes, which need not be text, hold a known value in UTF-8 or a credential. */
  holdsSecretBytes(content: Buffer): boolean {
    // A character for each byte: what is ASCII stands there as it is.
    if (this.holdsSecret(content.toString("latin1"))) return true;
    return [...this.#known.names.keys()].some((value) => /[^\0-\x7f]/.test(value) && content.includes(value));
  }

  /** Returns whether a JSON text is its own form in a record. */
  isPlain(json: string): boolean {
    return !this.#known.isEscaped && !json.includes("⟦") && !this.holdsSecret(json);
  }

  #member(member: unknown, replacing: Replacing): unknown {
    if (typeof member === "string") return this.#replace(member, replacing);
    if (typeof member !== "object" || member === null || Array.isArray(member)) return member;
    const entries = Object.entries(member).map(([key, value]) => [this.#replace(key, replacing), value, key] as const);
    return entries.every(([key, , was]) => key === was)
      ? member
      : Object.fromEntries(entries.map(([key, value]) => [key, value]));
  }
}

/** The values of a list of secrets. */
interface KnownValues {
  /** Matches them; undefined without any. */
  readonly pattern: RegExp | undefined;
  readonly names: ReadonlyMap<string, Pick<FoundSecret, "name" | "kind">>;
  /** True if JSON escapes characters of a value: the pattern would miss it in JSON. */
  readonly isEscaped: boolean;
  /** UTF-16 units of the shortest one; infinite without any. */
  readonly shortest: number;
}

/** By the list, where it cannot change: runs of one program have one in common. */
const kept = new WeakMap<readonly Secret[], KnownValues>();

function findValues(secrets: readonly Secret[]): KnownValues {
  const names = new Map(secrets.filter(({ value }) => value.length >= shortestSecret).flatMap(spellings));
  const longestFirst = [...names.keys()].sort((a, b) => b.length - a.length);
  return {
    names,
    shortest: longestFirst.at(-1)?.length ?? Number.POSITIVE_INFINITY,
    pattern: longestFirst.length > 0 ? new RegExp(longestFirst.map(escapePattern).join("|"), "g") : undefined,
    isEscaped: longestFirst.some((value) => /["\\\p{Cc}]/u.test(value)),
  };
}

interface Replacing {
  readonly from: number;
  readonly write: Write;
  /** Changes what stands between the secrets. */
  readonly literal?: (text: string) => string;
}

/** `⟦secret:` in content is no token: it gets one `~` more in a record, and loses it when it is read. */
function escapeTokens(text: string): string {
  return text.replace(/⟦(?=~*secret:)/g, "⟦~");
}

function withoutIds(text: string): string {
  return text.replace(/⟦secret:([^⟧:]+):(?:json|[0-9a-f]{6,64})⟧/g, "⟦secret:$1⟧");
}

/** Turns the form of `Redactor.record` back. Tokens without a value stay as they are. */
export function restoreSecrets(text: string, secretOf: (token: string) => string | undefined): string {
  return text.replace(/⟦(?:~(~*secret:)|secret:([^⟧]+)⟧)/g, (whole, literal?: string, token = "") =>
    literal === undefined ? (secretOf(token) ?? whole) : `⟦${literal}`,
  );
}

/** Adds the escaped form of values that JSON escapes: texts can hold JSON. */
function spellings({ name, value }: Secret): [string, Pick<FoundSecret, "name" | "kind">][] {
  const escaped = JSON.stringify(value).slice(1, -1);
  const known = [value, { name, kind: "known" }] as [string, Pick<FoundSecret, "name" | "kind">];
  return escaped === value ? [known] : [known, [escaped, { name, kind: "in JSON" }]];
}

function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}

const secretName = /(key|token|secret|password|passwd|credential|private)s?(_|$)/i;

const taken: Secret[] = [];

/** Adds secrets of this process that were taken out of its environment, so that they are replaced like those in it. */
export function addTakenSecrets(secrets: readonly Secret[]): void {
  taken.push(...secrets);
}

/** Returns the variables of an environment whose names are those of secrets, and the secrets that were taken out of it. */
export function environmentSecrets(environment: Readonly<Record<string, string | undefined>>): Secret[] {
  const named = Object.entries(environment).flatMap(([name, value]) => (value && secretName.test(name) ? [{ name, value }] : []));
  return [...named, ...taken];
}
