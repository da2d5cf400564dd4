export interface EscapeOptions {
  /** Keeps line feeds. */
  readonly keepNewlines?: boolean;
  /** Keeps backslashes single: for texts that are shown to a user and not read back. */
  readonly keepBackslashes?: boolean;
}

const hidden = String.raw`\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\\`;

/**
 * Hidden characters with the combining marks after them; marks at the beginning, which would change the character before the text;
 * and those of a pile that grows over other lines.
 */
const unseen = new RegExp(String.raw`[${hidden}]\p{M}*|^\p{M}+|(?<=\p{M}{4})\p{M}+`, "gu");

/**
 * Makes characters visible that a terminal or an editor would obey or hide: control characters, overrides of the writing direction,
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

/** Escapes control characters alone, but for line breaks and tabs: for texts in all languages that are shown and not judged. */
export function escapeControls(text: string): string {
  return text.replace(/(?!\r\n)[^\P{Cc}\n\t]/gu, (character) => escapeCharacter(character, {}));
}

/** Inverts `escapeText`. Keeps a backslash before anything else. */
export function unescapeText(text: string): string {
  return text.replace(/\\(?:\\|u\{([0-9A-F]{1,6})\})/g, (written, hex: string | undefined) => {
    if (hex === undefined) return "\\";
    const codePoint = Number.parseInt(hex, 16);
    return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : written;
  });
}
