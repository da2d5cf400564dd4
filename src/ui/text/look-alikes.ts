import { type LookAlikeLetter, lookAlikeLetters, lookAlikeSigns, oddSpace } from "./look-alike-table.ts";

/** A character that looks like an ASCII one where it could be taken for it. */
export interface LookAlike {
  readonly index: number;
  readonly character: string;
  readonly like: string;
}

interface Word {
  readonly index: number;
  readonly text: string;
  /** Scripts of the letters that look like nothing else. */
  readonly ownScripts: ReadonlySet<string>;
  readonly lookAlikes: readonly (LookAlike & { readonly script: string })[];
}

/**
 * Finds look-alikes in a line: in words that mix them with Latin letters, and words of nothing else that have no word of their
 * script beside them. Honest words of other scripts are left alone. `isCommand`: signs count too, and so does the name of a
 * program, whatever stands beside it.
 */
export function findLookAlikes(line: string, isCommand: boolean): LookAlike[] {
  if (/^[\0-\x7F]*$/.test(line)) return [];
  const words = [...line.matchAll(/[\p{L}\p{M}\p{Nl}]+/gu)].map(({ index, 0: text }) => toWord(index, text));
  const company = findCompany(words, line);
  const found: LookAlike[] = words.flatMap((word, at) =>
    isSuspect(word, { line, isCommand, hasCompany: company[at] === true }) ? word.lookAlikes : [],
  );
  if (isCommand) found.push(...findSigns(line));
  return found.sort((a, b) => a.index - b.index);
}

/** Own letters of a Latin word in prose: a shorter one is a symbol of physics. */
const shortestMixed = 2;

/**
 * Finds letters of other scripts in words that are Latin otherwise, for prose in any language: words of one script, symbols of
 * mathematics and fullwidth letters are left alone.
 */
export function findMixedWords(text: string): LookAlike[] {
  if (/^[\0-\x7F]*$/.test(text)) return [];
  return [...text.matchAll(/[\p{L}\p{M}\p{Nl}]+/gu)].flatMap(({ index, 0: written }) => {
    const { ownScripts, lookAlikes } = toWord(index, written);
    const letters = lookAlikes.filter(({ script }) => script !== "Wide" && script !== "Mathematical");
    return ownScripts.has("Latin") && [...written].length - lookAlikes.length >= shortestMixed ? letters : [];
  });
}

const cjk = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u;
const ownScript: readonly (readonly [string, RegExp])[] = [
  ["Latin", /\p{Script=Latin}/u],
  ["Wide", cjk],
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Greek", /\p{Script=Greek}/u],
  ["Armenian", /\p{Script=Armenian}/u],
  ["Cherokee", /\p{Script=Cherokee}/u],
  ["Coptic", /\p{Script=Coptic}/u],
  ["Lisu", /\p{Script=Lisu}/u],
];

function toWord(start: number, text: string): Word {
  const ownScripts = new Set<string>();
  const lookAlikes: (LookAlike & { readonly script: string })[] = [];
  let index = start;
  for (const character of text) {
    const letter = toLetter(character);
    if (letter) lookAlikes.push({ index, character, ...letter });
    else for (const [script, pattern] of ownScript) if (pattern.test(character)) ownScripts.add(script);
    index += character.length;
  }
  return { index: start, text, ownScripts, lookAlikes };
}

function toLetter(character: string): LookAlikeLetter | undefined {
  if (/[\uFF21-\uFF3A\uFF41-\uFF5A]/.test(character)) return { script: "Wide", like: character.normalize("NFKC") };
  // Mathematical letters, those that stand among letter-like symbols, and Roman numerals.
  if (!/[\u{1D400}-\u{1D7FF}\u2100-\u214F\u2160-\u217F]/u.test(character)) return lookAlikeLetters.get(character);
  const like = character.normalize("NFKC");
  return /^[A-Za-z]$/.test(like) ? { script: "Mathematical", like } : undefined;
}

interface WordPlace {
  readonly line: string;
  readonly isCommand: boolean;
  /** A word of its script that looks like nothing else stands beside it, or beside words like it. */
  readonly hasCompany: boolean;
}

function isSuspect(word: Word, { hasCompany, line, isCommand }: WordPlace): boolean {
  // In Chinese, Japanese and Korean words, fullwidth letters stand beside Latin ones.
  if (word.lookAlikes.length === 0 || word.ownScripts.has("Wide")) return false;
  if (word.ownScripts.has("Latin")) return true;
  if (word.ownScripts.size > 0) return false;
  return !hasCompany || (isCommand && isAtProgram(line, word.index));
}

function isAtProgram(line: string, index: number): boolean {
  return /(?:^|[;|&(){}`])[\s"'\\]*$/.test(line.slice(Math.max(index - 100, 0), index));
}

/** Returns for each word whether its own letters, or words of its script next to it, show that it is honest. */
function findCompany(words: readonly Word[], line: string): boolean[] {
  const found = words.map(() => false);
  for (const order of [words.keys(), [...words.keys()].reverse()]) {
    let scripts: ReadonlySet<string> = new Set();
    let before: Word | undefined;
    for (const at of order) {
      const word = words[at];
      if (!word) continue;
      if (before && !areNeighbours(line, before, word)) scripts = new Set();
      before = word;
      const { ownScripts, lookAlikes } = word;
      const [first] = lookAlikes;
      if (ownScripts.size > 0 || !first) scripts = ownScripts;
      else if (scripts.has(first.script)) found[at] = true;
      else scripts = new Set();
    }
  }
  return found;
}

/** Returns whether no character between two words separates them in code. */
function areNeighbours(line: string, a: Word, b: Word): boolean {
  const [first, second] = a.index < b.index ? [a, b] : [b, a];
  return !/[=<>/\\;|&{}[\]$#*+^~`@_]/.test(line.slice(first.index + first.text.length, second.index));
}

function findSigns(line: string): LookAlike[] {
  return [...line.matchAll(/[^\0-\x7F]/gu)].flatMap(({ index, 0: character }) => {
    const like = signLike(character);
    const isPunctuation = /[，：；！？（）]/.test(character) && cjk.test(line.slice(Math.max(index - 1, 0), index + 2));
    return like === undefined || isPunctuation ? [] : [{ index, character, like }];
  });
}

function signLike(character: string): string | undefined {
  if (oddSpace.test(character)) return "a space";
  if (/[\uFF01-\uFF20\uFF3B-\uFF40\uFF5B-\uFF5E]/.test(character)) return String.fromCharCode(character.charCodeAt(0) - 0xfee0);
  return lookAlikeSigns.get(character);
}
