// Writes docs/tui.svg: a terminal with the program of the README when its write asks. Runs the built command in a real terminal, and
// draws the cells of its screen. The example's script plays the model, so no key is needed.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import xterm, { type IBufferCell } from "@xterm/headless";

const root = join(import.meta.dirname, "..");
const [columns, rows] = [100, 34];

/** Text of the screen once the question waits for an answer. */
const waited = "[?]";

function play(folder: string): Promise<xterm.Terminal> {
  const model = "scripted:meeting_actions/scripted.ts";
  const args = [join(root, "bin/llm-do.js"), "meeting_actions", "Who does what by when?", "--model", model];
  const env = { PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", LLM_DO_STATE_DIR: join(folder, "state") };
  const pty = spawn(process.execPath, args, { cwd: folder, cols: columns, rows, env });
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  return new Promise((resolve, reject) => {
    const look = () => {
      if (!textOf(terminal).includes(waited)) return;
      pty.kill("SIGKILL");
      resolve(terminal);
    };
    pty.onData((text) => terminal.write(text, look));
    pty.onExit(() => reject(new Error(`the run ended before it asked:\n${textOf(terminal)}`)));
  });
}

function linesOf({ buffer: { active } }: xterm.Terminal) {
  const all = Array.from({ length: rows }, (_, row) => active.getLine(active.viewportY + row));
  const last = all.findLastIndex((line) => line?.translateToString(true) !== "");
  return all.slice(0, last + 1);
}

function textOf(terminal: xterm.Terminal): string {
  return linesOf(terminal)
    .map((line) => line?.translateToString(true) ?? "")
    .join("\n");
}

/** Pixels. */
const cell = { width: 8.4, height: 18 };
const margin = 14;
const background = "#16181d";
const foreground = "#d6dae0";
/** The first 16 colours of the terminal. */
const palette = [
  ...["#3b4048", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d6dae0"],
  ...["#5c6370", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#ffffff"],
];

function drawScreen(terminal: xterm.Terminal): string {
  const lines = linesOf(terminal);
  const [width, height] = [columns * cell.width + 2 * margin, lines.length * cell.height + 2 * margin];
  const texts = lines.map((line, row) => {
    const cells = Array.from({ length: columns }, (_, column) => line?.getCell(column));
    const y = margin + (row + 0.75) * cell.height;
    return `<text x="${margin}" y="${y}" xml:space="preserve">${drawSpans(cells)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A run in the terminal UI asks before it writes a file">
<rect width="100%" height="100%" rx="8" fill="${background}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="${foreground}">
${texts.join("\n")}
</g>
</svg>
`;
}

/** Cells of one format in a row become one span, which is as wide as its cells in every font. */
function drawSpans(cells: readonly (IBufferCell | undefined)[]): string {
  const spans: { format: string; text: string }[] = [];
  for (const one of cells) {
    const text = one?.getChars() || " ";
    const format = formatOf(one);
    const last = spans.at(-1);
    if (last?.format === format) last.text += text;
    else spans.push({ format, text });
  }
  if (spans.at(-1)?.text.trim() === "") spans.pop();
  return spans
    .map(({ format, text }) => `<tspan textLength="${round([...text].length * cell.width)}"${format}>${escapeXml(text)}</tspan>`)
    .join("");
}

function formatOf(one: IBufferCell | undefined): string {
  if (!one) return "";
  const color = one.isFgPalette() ? palette[one.getFgColor()] : undefined;
  return [
    ...(color === undefined ? [] : [` fill="${color}"`]),
    ...(one.isBold() ? [' font-weight="bold"'] : []),
    ...(one.isDim() ? [' opacity="0.6"'] : []),
    ...(one.isItalic() ? [' font-style="italic"'] : []),
    ...(one.isUnderline() ? [' text-decoration="underline"'] : []),
  ].join("");
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

const folder = mkdtempSync(join(tmpdir(), "llm-do-picture-"));
try {
  const isSource = (path: string) => !path.endsWith("output");
  cpSync(join(root, "examples/meeting_actions"), join(folder, "meeting_actions"), { recursive: true, filter: isSource });
  writeFileSync(join(root, "docs/tui.svg"), drawScreen(await play(folder)));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
