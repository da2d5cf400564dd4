import { type Arm, modelOf } from "./arm.ts";
import { ratioOf } from "./measure.ts";
import { type Measured, titleOf } from "./report.ts";

const width = 760;
const labels = 110;
const row = 15;
/** Longer bars are cut: one slow library would make all others dots. */
const most = 12;

const style = `text{font:11px sans-serif;fill:#374151}.t{font-weight:bold}rect{fill:#9ca3af}.u{fill:#2563eb}line{stroke:#6b7280;stroke-dasharray:3 3}
@media(prefers-color-scheme:dark){text{fill:#d1d5db}rect{fill:#6b7280}.u{fill:#60a5fa}}`;

/** Horizontal bars in two columns, a group for each case, as SVG that is readable on light and on dark. */
export function plot(measured: readonly Measured[]): string {
  const tops = [34, 34];
  const groups = measured
    .filter(({ one }) => one.kind !== "start")
    .map((each) => {
      const column = (tops[1] as number) < (tops[0] as number) ? 1 : 0;
      const { text, height } = drawCase(each);
      const group = `<g id="${modelOf(each.one)}" transform="translate(${(column * width) / 2} ${tops[column]})">${text}</g>`;
      tops[column] = (tops[column] as number) + height;
      return group;
    });
  const height = Math.max(...tops);
  const about = "Time beside a plain fetch loop (dashed line), with the same answers; less is better";
  const title = `<text class="t" x="8" y="18">${about}</text>`;
  const open = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${about}">`;
  return `${[open, `<style>${style}</style>`, title, ...groups].join("\n")}\n</svg>\n`;
}

function drawCase({ one, rows: [floor, ...rows] }: Measured): { readonly text: string; readonly height: number } {
  const shown = rows.filter(({ arm, failure }) => !arm.floor && failure === undefined);
  const values = shown.map(({ arm, walls }) => ({ arm, value: ratioOf(walls, floor?.walls) }));
  const scale = (width / 2 - labels - 50) / Math.min(most, Math.max(1, ...values.map(({ value }) => value)));
  const bars = values.map(({ arm, value }, index) => drawBar(arm, value, { y: 28 + index * row, scale }));
  const bottom = 18 + values.length * row;
  const mark = `<line x1="${labels + scale}" x2="${labels + scale}" y1="16" y2="${bottom + 2}"/>`.replaceAll(/(\.\d)\d+/g, "$1");
  return { text: [`<text class="t" x="8" y="10">${titleOf(one)}</text>`, ...bars, mark].join(""), height: bottom + 16 };
}

function drawBar({ name }: Arm, value: number, { y, scale }: { readonly y: number; readonly scale: number }): string {
  const length = Math.max(1, Math.min(value, most) * scale).toFixed(0);
  const own = name === "llm-do" ? ' class="u"' : "";
  const label = `<text x="${labels - 6}" y="${y}" text-anchor="end">${name}</text>`;
  const bar = `<rect x="${labels}" y="${y - 9}" width="${length}" height="11"${own}/>`;
  return `${label}${bar}<text x="${labels + Number(length) + 5}" y="${y}">${value.toFixed(2)}</text>`;
}
