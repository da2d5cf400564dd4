import { readdirSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import type { Program } from "../../front/llm-do.ts";
import { inputSchemaOf } from "../../runtime/results/entry-input.ts";
import { attachmentField } from "../../toolsets/attachments.ts";
import { UsageError } from "../exit-codes.ts";
import type { Completion } from "./tui.ts";

/** Files that a message names, as its run takes them. */
export interface AttachedFiles {
  readonly attachments: readonly { readonly path: string }[];
  /** The text of each file, where the entry takes no attachments. */
  readonly fragments: readonly string[];
  /** Words that look like the path of a file, and name none. */
  readonly missing: readonly string[];
}

const fileMark = /(?<=^|\s)@(?:"([^"\n]+)"|(\S+))/g;
/** Bytes of a file whose text becomes a part of the message. */
const longestFragment = 200_000;
const mostCandidates = 12;

/**
 * The files behind `@path` and `@"path with blanks"` in a message. A word that names no file is left alone. Rejects with a
 * `UsageError` for a file that the entry cannot take.
 */
export async function attachFiles(message: string, program: Program): Promise<AttachedFiles> {
  const words = [...message.matchAll(fileMark)].map(([, quoted, word]) => expand(quoted ?? word ?? ""));
  const paths = words.filter(isFile);
  const missing = words.filter((word) => /\w[./]\w/.test(word) && !isFile(word));
  if (attachmentField(inputSchemaOf(program))) return { attachments: paths.map((path) => ({ path })), fragments: [], missing };
  return { attachments: [], fragments: await Promise.all(paths.map(readFragment)), missing };
}

async function readFragment(path: string): Promise<string> {
  const { size } = await stat(path);
  if (size > longestFragment) throw new UsageError(`@${path}: this file has ${size} bytes, and ${longestFragment} can be sent`);
  const text = await readFile(path, "utf8");
  if (text.includes("\0") || text.includes("\uFFFD"))
    throw new UsageError(
      `@${path}: this is no text, and the entry takes no attachments: its input has no field of type \`attachment\``,
    );
  return `${path}:\n\n${text}`;
}

/** Completes a word that begins with `@` to the files there are, or one that begins with `/` to one of `commands`. */
export function completeWord(before: string, commands: readonly string[]): Completion {
  const word = /(?:^|\s)([@/]\S*)$/.exec(before)?.[1];
  const start = before.length - (word?.length ?? 0);
  if (word === undefined) return { start, text: "", candidates: [] };
  const isCommand = word.startsWith("/");
  if (isCommand && start > 0) return { start, text: word, candidates: [] };
  const all = isCommand ? commands : listFiles(word.slice(1)).map((path) => `@${path}`);
  const fitting = all.filter((one) => one.startsWith(word));
  const [only] = fitting;
  if (only === undefined) return { start, text: word, candidates: [] };
  if (fitting.length === 1) return { start, text: only.endsWith("/") ? only : `${only} `, candidates: [] };
  const candidates = fitting.slice(0, mostCandidates).map((one) => (isCommand ? one : basename(one)));
  const left = fitting.length - candidates.length;
  return { start, text: commonHead(fitting), candidates: left > 0 ? [...candidates, `and ${left} more`] : candidates };
}

/** Entries of the folder that a path begins with; folders end in `/`. */
function listFiles(path: string): readonly string[] {
  const folder = path.endsWith("/") ? path : path.includes("/") ? `${dirname(path)}/` : "";
  try {
    const entries = readdirSync(expand(folder === "" ? "." : folder), { withFileTypes: true });
    const isShown = (name: string) => !name.startsWith(".") || basename(path).startsWith(".");
    const names = entries.filter(({ name }) => isShown(name) && !/\s/.test(name));
    return names.map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`).sort();
  } catch {
    return [];
  }
}

function commonHead(words: readonly string[]): string {
  const [first = "", ...rest] = words;
  let end = first.length;
  for (const word of rest) while (!word.startsWith(first.slice(0, end))) end--;
  return first.slice(0, end);
}

function expand(path: string): string {
  return path.startsWith("~/") ? join(homedir(), path.slice(2)) : path;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
