import stringWidth from "string-width";
import { cutText } from "../text/wrap-text.ts";

/** Returns as much of an unstyled text as fits; `…` stands for the rest. */
export function clipRow(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  if (columns < 2) return "";
  const [row = ""] = cutText(text.slice(0, columns * 4), columns - 1);
  return `${row}…`;
}
