/** A text that diagnostics can point into: a file, or the words of a command-line flag. */
export interface Source {
  /** As shown to people: a path relative to where they stand, or `--set main.model=x`. */
  readonly name: string;
  readonly text: string;
}

/** Half-open range of UTF-16 offsets in a source's text. */
export interface Span {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
}

/** A value and the place that it was written in. */
export interface Spanned<T> {
  readonly value: T;
  readonly span: Span;
}

/** Both from 1. Columns count UTF-16 units, as editors and compilers do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}
