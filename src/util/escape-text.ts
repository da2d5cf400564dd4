export interface EscapeOptions {
  /** Line feeds stay as they are. */
  readonly keepNewlines?: boolean;
  /** Backslashes stay single: for showing a text to a person, where nobody has to read it back. */
  readonly keepBackslashes?: boolean;
}

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\\]/gu;

/**
 * Makes visible what a terminal or an editor would obey or hide: control characters, overrides of the writing direction,
 * characters without width, lone surrogates, line and paragraph separators become `\u{202E}`, and a backslash `\\`.
 * `unescapeText` is its inverse.
 */
export function escapeText(text: string, options: EscapeOptions = {}): string {
  return text.replace(unseen, (character) => {
    if (character === "\\") return options.keepBackslashes ? character : "\\\\";
    if (character === "\n" && options.keepNewlines) return character;
    return `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`;
  });
}

/** Reads back what `escapeText` wrote. Anything else that follows a backslash is kept as it is. */
export function unescapeText(text: string): string {
  return text.replace(/\\(?:\\|u\{([0-9A-F]{1,6})\})/g, (written, hex: string | undefined) => {
    if (hex === undefined) return "\\";
    const codePoint = Number.parseInt(hex, 16);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : written;
  });
}
