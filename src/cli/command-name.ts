/** The command as it was started: npx and npm scripts put it on the PATH for their own process alone. */
export function commandName(): string {
  return process.env["npm_command"] === undefined ? "llm-do" : "npx llm-do";
}

/** A command line as it can be typed. */
export function commandLine(...words: readonly string[]): string {
  return [commandName(), ...words.map(quoteWord)].join(" ");
}

/** Quotes a word for a shell where it needs that. */
export function quoteWord(word: string): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word)) return word;
  return process.platform === "win32" ? `"${word}"` : `'${word.replaceAll("'", "'\\''")}'`;
}
