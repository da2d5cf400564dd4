const wide =
  /[\p{Emoji_Presentation}\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]/u;

/** Breaks a line between words, and inside one only where it is longer than a whole line. Columns, not characters, are counted. */
export function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (widthOf(longer) <= columns) line = longer;
    else {
      if (line !== "") lines.push(line);
      const pieces = cutText(word, columns);
      line = pieces.pop() ?? "";
      lines.push(...pieces);
    }
  }
  return [...lines, line];
}

/** Breaks a line wherever it is full, so that nothing of it is lost or moved: for contents of files. */
export function cutText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  let width = 0;
  for (const character of text) {
    const added = widthOf(character);
    if (width + added > columns && line !== "") {
      lines.push(line);
      line = "";
      width = 0;
    }
    line += character;
    width += added;
  }
  return [...lines, line];
}

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (character < "\u0300") width++;
    else if (!/\p{M}/u.test(character)) width += wide.test(character) ? 2 : 1;
  }
  return width;
}
