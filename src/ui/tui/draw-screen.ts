import stringWidth from "string-width";
import type { RunView } from "../run-view.ts";
import { cutWords, wrapKeys } from "../text/wrap-text.ts";
import { clipRow } from "./clip-row.ts";
import { drawFoot, type Foot } from "./draw-foot.ts";
import { drawTree } from "./draw-tree.ts";
import type { Layout } from "./spans.ts";
import { drawField, type TextField } from "./text-field.ts";

/** The rows that stay in sight. */
export interface Sight {
  readonly view: RunView;
  /** Rows of the entry's text that can still change. */
  readonly open: readonly string[];
  /** A question: what it is about, and the keys that answer it. */
  readonly panel: { readonly subject: string; readonly keys: string } | undefined;
  /** A line above the field: what can be typed, or what completes it. */
  readonly hint: string | undefined;
  readonly field: TextField | undefined;
  readonly foot: Foot;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export interface Sized extends Layout {
  /** Rows of the whole terminal. */
  readonly rows: number;
}

export interface DrawnScreen {
  readonly rows: readonly string[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Draws what stays in sight in fewer rows than the terminal has, however small it is: what matters least gives way. */
export function drawScreen(
  { view, open, panel, hint, field, foot, now }: Sight,
  { rows: height, ...layout }: Sized,
): DrawnScreen {
  const { columns, style } = layout;
  const most = Math.max(2, height - 1);
  const typed = field && drawField(field, columns, Math.max(1, Math.min(6, most - 2)));
  const below = [
    ...(panel ? drawPanel(panel, layout, Math.max(1, most - (typed?.rows.length ?? 0) - 1)) : []),
    ...(hint === undefined || most < 6 ? [] : cutWords(hint, columns - 1).slice(0, 2)).map((row) =>
      style(["dim"], clipRow(row, columns - 1)),
    ),
  ];
  const fixed = below.length + (typed?.rows.length ?? 0) + 1;
  const left = Math.max(0, most - fixed);
  const tree = left === 0 ? [] : drawTree(view, layout, { longest: Math.min(left, Math.max(3, Math.floor(height / 3))), now });
  const room = left - tree.length;
  const text = room > 0 ? open.slice(-room) : [];
  const above = [...text, ...tree, ...below];
  const rows = [...above, ...(typed?.rows ?? []), drawFoot(foot, layout)].slice(-most);
  if (!typed) return { rows, cursor: { row: rows.length - 1, column: 0 } };
  const row = rows.length - 1 - typed.rows.length + typed.cursor.row;
  const before = typed.rows[typed.cursor.row]?.slice(0, typed.cursor.column) ?? "";
  return { rows, cursor: { row, column: stringWidth(before) } };
}

/** Rows of what a question is about. */
const longestSubject = 2;

/** The keys stay whole; of a long subject the first rows do. */
function drawPanel({ subject, keys }: NonNullable<Sight["panel"]>, { columns, style }: Layout, longest: number): string[] {
  const keyRows = wrapKeys(keys, columns - 1);
  const subjectRows = cutWords(subject, columns - 1)
    .slice(0, longestSubject)
    .map((row) => style(["bold"], row));
  const rows = [style(["dim"], "─".repeat(Math.max(1, columns - 1))), ...subjectRows, ...keyRows];
  return rows.length <= longest ? rows : [...subjectRows.slice(0, 1), ...keyRows].slice(0, longest);
}
