/** A line of a preview, unescaped; or, as a string, words of the question about it, which no line of a preview can look like. */
export type PreviewLine = TextLine | TextBlock | string;

export interface TextLine {
  readonly text: string;
  /** Of a diff. It stands apart, so that no mark at the beginning of the line changes it. */
  readonly sign?: " " | "+" | "-";
  readonly format?: "green" | "red";
}

/** Many lines, which are parted only where they are shown. */
export interface TextBlock extends Pick<TextLine, "sign" | "format"> {
  readonly block: string;
}
