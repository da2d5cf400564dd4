/** The form of a credential: a prefix that its issuer documents, and enough characters after it. */
interface Shape {
  readonly name: string;
  /** A credential begins with one of these. */
  readonly prefixes: readonly string[];
  /** Returns the end of a credential, given the end of its prefix; undefined if it is none. */
  readonly end: (text: TokenText, from: number) => number | undefined;
}

export interface FoundShape {
  readonly name: string;
  readonly index: number;
  readonly end: number;
}

interface Run {
  readonly start: number;
  readonly end: number;
  /** The last index from which both a digit and a capital still follow; -1 without any. */
  readonly isMixedUntil: number;
}

/** A text and its runs of `\w` and `-`, each walked once: many beginnings in one run cost no more than one. */
class TokenText {
  readonly text: string;
  readonly #whole = new Map<number, Run>();
  #current: Run = { start: 0, end: 0, isMixedUntil: -1 };

  constructor(text: string) {
    this.text = text;
  }

  /** Returns the run around an index; it begins there or further left. To be called with ascending indices. */
  runAround(index: number): Run {
    if (index >= this.#current.end) this.#current = this.#walk(index);
    return this.#current;
  }

  /** Returns the end of the run that begins at an index. */
  endOfRun(index: number): number {
    const run = this.#whole.get(index) ?? this.#walk(index);
    this.#whole.set(index, run);
    return run.end;
  }

  #walk(start: number): Run {
    let [end, digit, capital] = [start, -1, -1];
    for (; end < this.text.length; end++) {
      const character = this.text.charAt(end);
      if (character >= "0" && character <= "9") digit = end;
      else if (character >= "A" && character <= "Z") capital = end;
      else if (!/[\w-]/.test(character)) break;
    }
    return { start, end, isMixedUntil: Math.min(digit, capital) };
  }
}

/** `rest`: a pattern for the text after the prefix, which must not backtrack over more than a few characters. */
function follows(rest: string): Shape["end"] {
  const pattern = new RegExp(rest, "y");
  return ({ text }, from) => {
    pattern.lastIndex = from;
    return pattern.test(text) ? pattern.lastIndex : undefined;
  };
}

/** For prefixes that could begin a word: requires a digit and a capital. */
const mixedRun: Shape["end"] = (tokens, from) => {
  const { end, isMixedUntil } = tokens.runAround(from);
  return end - from >= 20 && from <= isMixedUntil ? end : undefined;
};

const jsonWebToken: Shape["end"] = (tokens, from) => {
  const { text } = tokens;
  const header = tokens.runAround(from).end;
  if (header - from < 10 || !text.startsWith(".eyJ", header)) return undefined;
  const payload = tokens.endOfRun(header + 1);
  if (payload - header < 14 || text[payload] !== ".") return undefined;
  const signature = tokens.endOfRun(payload + 1);
  return signature - payload > 10 ? signature : undefined;
};

const privateKeyStart = /(?:[A-Z0-9]+ )*PRIVATE KEY-----/y;
const privateKeyEnd = /-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----/g;

/** Ends at the end of the text if that breaks off within the key. */
const privateKey: Shape["end"] = ({ text }, from) => {
  privateKeyStart.lastIndex = from;
  if (!privateKeyStart.test(text)) return undefined;
  privateKeyEnd.lastIndex = privateKeyStart.lastIndex;
  return privateKeyEnd.test(text) ? privateKeyEnd.lastIndex : text.length;
};

const shapes: readonly Shape[] = [
  { name: "api-key", prefixes: ["sk-", "rk-", "sk_live_", "sk_test_", "rk_live_", "rk_test_"], end: mixedRun },
  { name: "github-token", prefixes: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], end: follows("[A-Za-z0-9]{36,}") },
  { name: "github-token", prefixes: ["github_pat_"], end: follows("\\w{50,}") },
  { name: "gitlab-token", prefixes: ["glpat-"], end: follows("[\\w-]{20,}") },
  { name: "npm-token", prefixes: ["npm_"], end: follows("[A-Za-z0-9]{36}") },
  { name: "slack-token", prefixes: ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-"], end: follows("[\\w-]{10,}") },
  { name: "aws-key-id", prefixes: ["AKIA", "ASIA"], end: follows("[A-Z0-9]{16}(?![A-Za-z0-9])") },
  { name: "google-key", prefixes: ["AIza"], end: follows("[\\w-]{35}") },
  { name: "jwt", prefixes: ["eyJ"], end: jsonWebToken },
];

/** The length of the shortest credential: a token of Slack. */
export const shortestShape = 15;

const keyPrefix = "-----BEGIN ";
const keyShape: Shape = { name: "private-key", prefixes: [keyPrefix], end: privateKey };
const prefixes = shapes.flatMap((shape) => shape.prefixes);
const anyPrefix = [keyPrefix, ...prefixes].join("|");

/** Characters that are rare in texts. Each prefix has one. */
const rareCharacters = ["-", "_", "I", "J"];
/**
 * Matches a text with a prefix, and few others: up to the last rare character of the prefix. Looking for single characters, and back from
 * those, is ten times as fast as looking for all prefixes at once.
 */
const mayHavePrefix = new RegExp(
  rareCharacters
    .map(
      (character) =>
        `${character}(?<=${beginnings()
          .filter((beginning) => beginning.endsWith(character))
          .join("|")})`,
    )
    .join("|"),
);

function beginnings(): readonly string[] {
  const lastRare = (prefix: string) => Math.max(...rareCharacters.map((character) => prefix.lastIndexOf(character)));
  return [keyPrefix, ...prefixes].map((prefix) => prefix.slice(0, lastRare(prefix) + 1));
}

const byPrefix = new Map([...shapes, keyShape].flatMap((shape) => shape.prefixes.map((prefix) => [prefix, shape] as const)));

/** How many characters before a credential decide whether it begins there. */
export const longestBefore = 6;

/** Finds all credentials from an index on, in order. Takes linear time. */
export function findShapes(text: string, from = 0): Iterable<FoundShape> {
  return mayHavePrefix.test(text) ? findAll(text, from) : [];
}

/** Returns whether a text holds a credential. */
export function holdsShape(text: string): boolean {
  if (mayHavePrefix.test(text)) for (const _ of findAll(text, 0)) return true;
  return false;
}

function* findAll(text: string, from: number): Iterable<FoundShape> {
  const tokens = new TokenText(text);
  const starts = new RegExp(anyPrefix, "g");
  starts.lastIndex = from;
  for (let start = starts.exec(text); start; start = starts.exec(text)) {
    const { index } = start;
    const [prefix] = start;
    const shape = prefix === keyPrefix || canBeginAt(text, index) ? byPrefix.get(prefix) : undefined;
    const end = shape?.end(tokens, index + prefix.length);
    if (shape && end !== undefined) yield { name: shape.name, index, end };
    starts.lastIndex = end ?? index + 1;
  }
}

/** Returns false within a word. The letter of an escape such as `\n` in JSON is no part of one. */
function canBeginAt(text: string, index: number): boolean {
  if (!/[A-Za-z0-9]/.test(text.charAt(index - 1))) return true;
  return /\\(?:[bfnrt]|u[0-9A-Fa-f]{4})$/.test(text.slice(Math.max(index - longestBefore, 0), index));
}

/** Returns the index at the end of a text where a credential could begin; the text's length if none could. */
export function openShapeAt(text: string): number {
  const key = Math.max(text.lastIndexOf(keyPrefix), 0);
  const isOpenKey = /^-----BEGIN (?:[A-Z0-9]+ )*(?:P|PRIVATE KEY-----(?![\s\S]*-----END )|$)/.test(text.slice(key));
  const dashes = /-{1,5}(?:B|BE|BEG|BEGI|BEGIN(?: [A-Z0-9 ]*)?)?$/.exec(text)?.index ?? text.length;
  return Math.min(isOpenKey ? key : text.length, dashes, openTokenAt(text));
}

function openTokenAt(text: string): number {
  let start = text.length;
  while (start > 0 && /[\w.-]/.test(text.charAt(start - 1))) start--;
  for (let index = start; index < text.length; index++) {
    const isOpen = prefixes.some((prefix) => text.startsWith(prefix, index) || prefix.startsWith(text.slice(index, index + 12)));
    if (isOpen && canBeginAt(text, index)) return index;
  }
  return text.length;
}
