import { statSync } from "node:fs";
import { UsageError } from "../exit-codes.ts";

/** The arguments of a run as they were written. */
export interface WrittenWords {
  readonly target: string;
  readonly rest: readonly string[];
  /** The arguments after `--`; undefined without `--`. */
  readonly afterDashes: readonly string[] | undefined;
  /** `--events` was given without a file. Default false. */
  readonly tellsEvents?: boolean;
}

/** The arguments of a run, told apart. */
export interface RunWords {
  /** One; or several files, which make the program with what they refer to. */
  readonly targets: readonly string[];
  readonly prompt?: {
    readonly text: string;
    /** It followed `--`: a `-` is a `-`. */
    readonly isLiteral: boolean;
  };
}

/**
 * Tells files from the prompt: an argument is a file only where it exists and ends in the suffix of a source, and what
 * follows `--` is prompt, whatever it looks like. Throws a `UsageError`.
 */
export function readWords({ target, rest, afterDashes, tellsEvents = false }: WrittenWords): RunWords {
  const targets = isSource(target) ? [target, ...takeWhile(rest, isSource)] : [target];
  const words = rest.slice(targets.length - 1);
  const late = words.find(isSource);
  if (late !== undefined) {
    throw new UsageError(
      `\`${late}\` is a file, and stands after ${describePlace(target, words, late)}; what follows \`--\` is the prompt`,
    );
  }
  if (afterDashes !== undefined) {
    const [first] = words;
    if (first?.endsWith(".worker")) throw new UsageError(noFile(first));
    if (first !== undefined) throw new UsageError(`\`${first}\` stands before \`--\`, where only the program does`);
    return { targets, prompt: { text: afterDashes.join(" "), isLiteral: true } };
  }
  const file = tellsEvents ? words.find((word) => /^\S+\.(jsonl?|ndjson|log|txt)$/i.test(word)) : undefined;
  if (file !== undefined) {
    throw new UsageError(`a file for events is written --events=${file}; if \`${file}\` is the prompt, put \`--\` before it`);
  }
  if (words.length > 1) {
    throw new UsageError(`the prompt is one argument, and here are ${words.length}; put it in quotes: "${words.join(" ")}"`);
  }
  const [text] = words;
  if (text !== undefined && /^\S+\.worker$/.test(text)) throw new UsageError(noFile(text));
  return text === undefined ? { targets } : { targets, prompt: { text, isLiteral: false } };
}

function noFile(word: string): string {
  return `there is no file \`${word}\`; if it is the prompt, put \`--\` before it`;
}

function describePlace(target: string, words: readonly string[], late: string): string {
  return words[0] === late ? `\`${target}\`, which is not one` : "the prompt";
}

function takeWhile(words: readonly string[], test: (word: string) => boolean): readonly string[] {
  const end = words.findIndex((word) => !test(word));
  return end < 0 ? words : words.slice(0, end);
}

function isSource(word: string): boolean {
  if (!/\.(worker|[cm]?[jt]s)$|(^|[\\/])llm-do\.yaml$/.test(word)) return false;
  try {
    return statSync(word).isFile();
  } catch {
    // Nothing is there; or it is a text that is too long for a name.
    return false;
  }
}
