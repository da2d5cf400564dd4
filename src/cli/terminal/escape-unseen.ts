/** Characters that JSON leaves unescaped and that a terminal would obey or hide. */
const unseen = /[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** JSON that reads back as the same value and does nothing to a terminal. */
export function escapeUnseen(json: string): string {
  return json.replace(unseen, (character) =>
    Array.from({ length: character.length }, (_, unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, "0")}`).join(
      "",
    ),
  );
}
