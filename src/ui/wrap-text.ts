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

/**
 * Breaks a line where it is full, after a space where one is near, so that the lines joined are the text again: for contents
 * of files.
 */
export function cutText(text: string, columns: number): string[] {
  const lines: string[] = [];
  let start = 0;
  for (let end = fittingEnd(text, start, columns); end < text.length; end = fittingEnd(text, start, columns)) {
    const space = text.lastIndexOf(" ", end - 1) + 1;
    const next = space > (start + end) / 2 ? space : end;
    lines.push(text.slice(start, next));
    start = next;
  }
  return [...lines, text.slice(start)];
}

/** Where a line that begins at `start` is full, between two characters, and never where it began. */
function fittingEnd(text: string, start: number, columns: number): number {
  let end = start;
  for (let width = 0; end < text.length; ) {
    const character = String.fromCodePoint(text.codePointAt(end) ?? 0);
    width += widthOf(character);
    if (width > columns && end > start) break;
    end += character.length;
  }
  return end;
}

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (character < "\u0300") width++;
    else if (!/\p{M}/u.test(character)) width += wide.test(character) ? 2 : 1;
  }
  return width;
}
