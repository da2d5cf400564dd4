import { relative } from "node:path";

/**
 * The command as it was started: npx and npm scripts put it on the PATH for their own process alone. Where npx brought the Node, too, the
 * one on the PATH is probably too old. `node`: the path of the Node that runs this.
 */
export function commandName(node: string = process.execPath): string {
  if (process.env["npm_command"] === undefined) return "llm-do";
  return /[\\/]_npx[\\/]/.test(node) ? "npx -p node@24 -p llm-do llm-do" : "npx llm-do";
}

/** Commands and flags in a hint. Before any other word, `llm-do` is the product. */
const hinted = new RegExp(
  `(?<![\\w/.-]|npx )llm-do(?= (?:-|(?:${[
    "run|chat|map|resume|approvals|approve|deny|check|explain|verdict|test|runs|calls|compare|stabilise|soften|drift|keep|view|replay|fork|undo",
    "submit|cancel|executor|mcp|acp|init|models|config|keys|oauth|trust|docs|schema|types|lsp|completion|help",
  ].join("|")})\\b))`,
  "g",
);

/** Returns a message with its hints as they can be typed. Lines of a user's file are left as they are. */
export function asStarted(message: string): string {
  const name = commandName();
  if (name === "llm-do") return message;
  const lines = message.split("\n");
  return lines.map((line) => (/^ *\d* \| ?/.test(line) ? line : line.replace(hinted, name))).join("\n");
}

/** A command line as it can be typed. */
export function commandLine(...words: readonly string[]): string {
  return [commandName(), ...words.map(quoteWord)].join(" ");
}

/** The command line that shows what a program can do. `folder`: an absolute path. */
export function explainLine(folder: string): string {
  return commandLine("explain", relative(process.cwd(), folder) || ".");
}

/** Quotes a word for a shell where it needs that. */
export function quoteWord(word: string): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word)) return word;
  return process.platform === "win32" ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}
