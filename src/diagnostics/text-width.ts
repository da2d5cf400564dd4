const wide =
  /[\p{Emoji_Presentation}\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6]/u;
const markOnLetter = /\p{M}/u;

/** Columns that an escaped text takes in a terminal, so that a caret stands under what it points at. */
export function textWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (character.length > 1 || character >= "\u0300") width += columnsOf(character);
    else width++;
  }
  return width;
}

function columnsOf(character: string): number {
  if (markOnLetter.test(character)) return 0;
  return wide.test(character) || (character >= "\u{20000}" && character <= "\u{3FFFD}") ? 2 : 1;
}
