export interface EscapeOptions {
  /** Line feeds stay as they are. */
  readonly keepNewlines?: boolean;
  /** Backslashes stay single: for showing a text to a person, where nobody has to read it back. */
  readonly keepBackslashes?: boolean;
}

const hidden = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\\`;

/**
 * What is hidden, with the combining marks after it; marks at the beginning, which would change what stands before the text;
 * and those of a pile that grows over other lines.
 */
const unseen = new RegExp(String.raw`[${hidden}]\p{M}*|^\p{M}+|(?<=\p{M}{4})\p{M}+`, "gu");

/**
 * Makes visible what a terminal or an editor would obey or hide: control characters, overrides of the writing direction,
 * characters without width, lone surrogates, line and paragraph separators, combining marks without a letter of the text's
 * become `\u{202E}`, and a backslash `\\`. `unescapeText` is its inverse.
 */
export function escapeText(text: string, options: EscapeOptions = {}): string {
  return text.replace(unseen, (run) => Array.from(run, (character) => escapeCharacter(character, options)).join(""));
}

function escapeCharacter(character: string, options: EscapeOptions): string {
  if (character === "\\") return options.keepBackslashes ? character : "\\\\";
  if (character === "\n" && options.keepNewlines) return character;
  return `\\u{${character.codePointAt(0)?.toString(16).toUpperCase()}}`;
}

/** Control characters alone, but for line breaks and tabs: for texts in all languages that are shown and not judged. */
export function escapeControls(text: string): string {
  return text.replace(/(?!\r\n)[^\P{Cc}\n\t]/gu, (character) => escapeCharacter(character, {}));
}

/** Reads back what `escapeText` wrote. Anything else that follows a backslash is kept as it is. */
export function unescapeText(text: string): string {
  return text.replace(/\\(?:\\|u\{([0-9A-F]{1,6})\})/g, (written, hex: string | undefined) => {
    if (hex === undefined) return "\\";
    const codePoint = Number.parseInt(hex, 16);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : written;
  });
}
