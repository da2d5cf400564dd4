/**
 * Prints how many words of prose each Markdown file has, and how easily it reads:
 *
 *     node scripts/reading-ease.ts README.md docs/approval.md
 */
import { readFileSync } from "node:fs";

/** The sentences of a page that a reader reads as prose: no code, tables, headings, pictures, badges or addresses. */
export function proseOf(markdown: string): readonly string[] {
  const paragraphs = markdown
    .replace(/<!--[\s\S]*?-->/g, "")
    .replace(/^( *)(```|~~~)[\s\S]*?^\1\2 *$/gm, "")
    .replace(/^(?:#|\||---|===|\[[^\]]+\]: ).*$/gm, "")
    .replace(/\[?!\[[^\]]*\]\([^)]*\)(?:\]\([^)]*\))?/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^>]+>/g, "")
    .replace(/^ *(?:[-*]|\d+\.) /gm, "\n")
    .split(/\n\s*\n/);
  return paragraphs
    .flatMap((paragraph) => paragraph.replace(/\s+/g, " ").split(/(?<=[.!?:;])["”)*_`]*\s+(?=[\p{L}`"“*])/u))
    .filter((sentence) => wordsOf(sentence).length > 1);
}

export function wordsOf(text: string): readonly string[] {
  return text.match(/\p{L}[\p{L}\p{N}'’_-]*/gu) ?? [];
}

/**
 * Flesch's reading ease of a page: 206.835 − 1.015 × words a sentence − 84.6 × syllables a word; higher reads more easily.
 * Rudolf Flesch, "A new readability yardstick", Journal of Applied Psychology 32 (1948), 221–233. Words in backquotes count as they are
 * spelt; syllables are counted as groups of vowels, without a silent `e` at the end.
 */
export function readingEase(markdown: string): number {
  const sentences = proseOf(markdown);
  const words = sentences.flatMap(wordsOf);
  const syllables = words.reduce((sum, word) => sum + countSyllables(word), 0);
  return 206.835 - (1.015 * words.length) / sentences.length - (84.6 * syllables) / words.length;
}

function countSyllables(word: string): number {
  const letters = word.toLowerCase().replace(/(?<=[^aeiouy]{1}[^l])e$|(?<=[aeiouy][^aeiouy])es?$/, "");
  return Math.max(1, (letters.match(/[aeiouy]+/g) ?? []).length);
}

if (process.argv[1] === import.meta.filename)
  for (const file of process.argv.slice(2)) {
    const text = readFileSync(file, "utf8");
    const words = proseOf(text).flatMap(wordsOf).length;
    console.log(`${readingEase(text).toFixed(1).padStart(6)}  ${String(words).padStart(6)} words  ${file}`);
  }
