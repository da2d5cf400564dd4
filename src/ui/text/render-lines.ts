import { clipText } from "../../util/text/clip-text.ts";
import { show } from "../explain/phrases.ts";

/**
 * The one way from lines about a run to a screen: each line is escaped as a whole, so that no field of a record moves the cursor or
 * begins a line of its own. `columns`: where lines are cut. Default: nowhere.
 */
export function renderLines(lines: readonly string[], columns = Number.POSITIVE_INFINITY): string {
  return lines.map((line) => `${clipText(show(line), columns, "...")}\n`).join("");
}
