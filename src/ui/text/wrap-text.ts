import stringWidth from "string-width";

/**
 * Breaks a line between words, and inside one only where it is longer than a whole line. Columns, not characters, are counted.
 */
export function wrapWords(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (stringWidth(longer) <= columns) line = longer;
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
  return cut(text, columns, (start, end) => (start + end) / 2);
}

/** Like `cutText`, but breaks after the last space, however far back: for sentences. */
export function cutWords(text: string, columns: number): string[] {
  return cut(text, columns, (start) => start);
}

/** Wraps the lines of a message between words. Lines that fit stay as they are. */
export function wrapLines(text: string, columns: number): string[] {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .flatMap((line) => cutWords(line, columns).map((row) => row.trimEnd()));
}

/** Stands between the keys of one line, which are only parted where a row ends. */
export const keySeparator = "\t";

/** Wraps lines that begin with a key, `  a  approve once`: a line goes on below its words. A line of several keys fills rows. */
export function wrapKeys(text: string, columns: number): string[] {
  return text
    .trimEnd()
    .split("\n")
    .flatMap((line) => {
      if (line.includes(keySeparator)) return fillRows(line.split(keySeparator), columns);
      const [, key = "", words = ""] = /^(\s*\S*\s*)(.*)$/.exec(line) ?? [];
      const rows = cutWords(words, Math.max(8, columns - key.length));
      return rows.map((row, index) => `${index === 0 ? key : " ".repeat(key.length)}${row}`);
    });
}

function fillRows(items: readonly string[], columns: number): string[] {
  const rows: string[] = [];
  for (const item of items) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + 2 + item.length <= columns) rows[rows.length - 1] = `${last}  ${item}`;
    else rows.push(...cutWords(item, columns));
  }
  return rows;
}

function cut(text: string, columns: number, earliest: (start: number, end: number) => number): string[] {
  if (text.length <= columns && /^[ -~]*$/.test(text)) return [text];
  const lines: string[] = [];
  let start = 0;
  for (let end = fittingEnd(text, start, columns); end < text.length; end = fittingEnd(text, start, columns)) {
    const space = start + text.slice(start, end).lastIndexOf(" ") + 1;
    const next = space > earliest(start, end) && !startsWithMark(text, space) ? space : end;
    lines.push(text.slice(start, next));
    start = next;
  }
  return [...lines, text.slice(start)];
}

/** On a line of its own a mark would change what stands before it. */
function startsWithMark(text: string, at: number): boolean {
  return /^\p{M}/u.test(text.slice(at, at + 2));
}

/** Returns where a line that begins at `start` is full: between two characters with their marks, and never at `start`. */
function fittingEnd(text: string, start: number, columns: number): number {
  const most = start + columns;
  if (most < text.length && /^[ -~]*$/.test(text.slice(start, most + 1))) return most;
  const withMarks = /.\p{M}*/suy;
  let end = start;
  for (let width = 0; end < text.length; ) {
    withMarks.lastIndex = end;
    const [character = ""] = withMarks.exec(text) ?? [];
    width += stringWidth(character);
    if (width > columns && end > start) break;
    end += character.length;
  }
  return end;
}
