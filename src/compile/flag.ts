import type { Source, Span } from "../diagnostics/source.ts";
import { clipText } from "../util/text/clip-text.ts";

const flagSources = new WeakSet<Source>();
const overrideSources = new WeakSet<Source>();

/** The words of a command-line flag, as something that diagnostics can point into. */
export function createFlagSource(name: string, text: string): Source {
  const source = { name: clipText(name, 60), text };
  flagSources.add(source);
  overrideSources.add(source);
  return source;
}

/** The words of an option that the program gives itself. They count as words of its files, and need trust where those do. */
export function createOptionSource(name: string, text: string): Source {
  const source = { name: clipText(name, 60), text };
  overrideSources.add(source);
  return source;
}

/** True for text of an option, of the user or of the program. */
export function isOption({ source }: Span): boolean {
  return overrideSources.has(source);
}

/** True for text of the command line (or passed to the library), false for text of the program's files. */
export function isFlag({ source }: Span): boolean {
  return flagSources.has(source);
}

export function wholeOf(source: Source): Span {
  return { source, start: 0, end: source.text.length };
}

/** The first line's fence: where to point when a file as a whole is meant. */
export function startOf(source: Source): Span {
  return { source, start: 0, end: Math.min(3, source.text.length) };
}
