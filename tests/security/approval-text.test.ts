import { styleText } from "node:util";
import xterm from "@xterm/headless";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ApprovalRequest, Preview } from "../../src/protocol/approval.ts";
import { renderRequest } from "../../src/ui/render-request.ts";
import { applyDiff, linesOf, readQuestion } from "./read-question.ts";

/** `npm run test:long` runs the same at length. */
const runs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 1000);
const widths = [40, 120];

const pieces = [
  ..."\0\b\r\n\n\n\t\x1b\x7f\x85\x9b",
  ..."\u200b\u200d\u2060\ufeff\u00ad\u180e\u3164\ufe0f\u{e0041}\u{e0100}",
  ..."\u202a\u202e\u2066\u2069\u061c\u200f\u2028\u2029",
  "\ud800",
  "\udc00",
  "\ud83d",
  ..."\u0301\u0338\u20d2\u20dd\u0e48\u0903\u093f\u1ab0\u{1e8d0}",
  "e\u0301\u0302\u0303\u0304\u0305\u0306",
  ..."日本語한글ｱＡ．｡〈⌨⌛\ua960\u{20000}\u{1f600}\u{1f1e9}\u{1f3fd}𝐀",
  "👩‍👩‍👧‍👦",
  "❤️",
  "שלום",
  "مرحبا",
  "\x1b[2J\x1b[H",
  "\x1b]0;title\x07",
  "\x1b[31m",
  "\\",
  "\\\\",
  "\\u{41}",
  "\\u{2192}   ",
  "u{41}",
  "→",
  "→   ",
  "→  ",
  " ",
  "    ",
  " ".repeat(70),
  "a",
  "word ",
  "x".repeat(150),
  "\n  | a line of the preview",
  "| ",
  ": ",
  "(empty)",
  "\n  It asks because: nothing",
  "\n  a  approve once\n> a\n",
];

const text = fc.oneof(
  fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc
    .array(
      fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      { maxLength: 60 },
    )
    .map((units) => units.join("")),
  fc.string({ unit: "grapheme", maxLength: 80 }),
);

const preview: fc.Arbitrary<Preview | undefined> = fc.oneof(
  fc.constant(undefined),
  text.map((content) => ({ type: "new-file", path: "a", content, bytes: content.length }) as const),
  fc.tuple(text, text).map(([before, after]) => ({ type: "diff", path: "a", before, after }) as const),
  text.map((shown) => ({ type: "text", text: shown }) as const),
  fc.record({
    type: fc.constant("question" as const),
    from: fc.constant("the MCP server a"),
    message: text,
    fields: fc.array(
      fc.record(
        {
          name: text,
          about: text,
          takes: fc.constant("a text"),
          isRequired: fc.boolean(),
          choices: fc.array(text),
          proposed: text,
        },
        { requiredKeys: ["name", "about", "takes", "isRequired"] },
      ),
      { maxLength: 2 },
    ),
  }),
);

const question: fc.Arbitrary<ApprovalRequest> = fc
  .record({ worker: text, tool: text, description: text, why: text, args: fc.dictionary(text, text, { maxKeys: 2 }), preview })
  .map(({ preview: shown, ...rest }) => ({
    ...rest,
    runId: "run",
    callPath: "main/0.tool",
    ...(shown ? { preview: shown } : {}),
    position: { n: 1, m: 1 },
    canRemember: true,
  }));

/** As the terminal shows it, and without its colours. */
function render(request: ApprovalRequest, columns: number, whole: boolean) {
  const style = (format: "bold" | "dim" | "green" | "red", shown: string) => styleText(format, shown, { validateStream: false });
  const { text: coloured, isWhole } = renderRequest(request, { columns, style, whole });
  const { text: plain } = renderRequest(request, { columns, style: (_, shown) => shown, whole });
  return { coloured, plain, isWhole };
}

/** Returns the text that the lines of a preview stand for. */
function expectedLines({ preview: shown, args }: ApprovalRequest): string[] {
  if (!shown) return JSON.stringify(args, undefined, 2).split("\n");
  if (shown.type === "text") return shown.text.split("\n");
  if (shown.type === "new-file") return shown.content === "" ? [] : shown.content.replace(/\n$/, "").split("\n");
  if (shown.type !== "question") throw new Error("not made here");
  const ofFields = shown.fields.flatMap(({ name, about, choices = [], proposed }) => [
    ...[name, ...(about === "" ? [] : [about]), ...choices],
    ...(proposed === undefined ? [] : [JSON.stringify(proposed)]),
  ]);
  return [shown.message, ...ofFields].flatMap((one) => one.split("\n"));
}

const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;

function expectReversible(request: ApprovalRequest): void {
  for (const columns of widths) {
    const { plain, coloured } = render(request, columns, true);
    const { paragraphs, lines, notes } = readQuestion(plain);
    const { worker, tool, description, why } = request;
    expect(paragraphs).toEqual([
      `Approval 1 of 1: ${worker} wants to call ${tool}`,
      description,
      `It asks because: ${why}`,
      "Call: main > tool#0",
    ]);
    if (request.preview?.type === "diff")
      expect(applyDiff(lines, request.preview.before)).toEqual(linesOf(request.preview.after));
    else expect(lines).toEqual(expectedLines(request));
    if (request.preview?.type === "new-file") {
      const { content } = request.preview;
      const end = notes.some((note) => note.startsWith("(no line break")) ? "" : "\n";
      expect(notes.includes("(empty)") ? "" : lines.join("\n") + end).toBe(content);
    }
    for (const row of plain.split("\n")) {
      expect(row).not.toMatch(hidden);
      expect(row).not.toMatch(/^(?: {4}| {2}[|:] | {0,2})\p{M}/u);
      if (request.preview?.type === "diff") expect(row).not.toMatch(/^ {2}\| [+-]\p{M}/u);
    }
    const colours = ["\x1b[1m", "\x1b[22m", "\x1b[2m", "\x1b[32m", "\x1b[31m", "\x1b[39m"];
    expect(colours.reduce((left, colour) => left.replaceAll(colour, ""), coloured)).toBe(plain);
  }
}

/** Rows of a screen of this width, as a terminal draws them; a row that was too wide would be two. */
async function draw(shown: string, columns: number): Promise<string[]> {
  const rows = shown.split("\n").length;
  const terminal = new xterm.Terminal({ cols: columns, rows: 10, scrollback: rows + 10, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(shown.replaceAll("\n", "\r\n"), done));
  const { active } = terminal.buffer;
  const drawn = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? "");
  const lastRow = active.baseY + active.cursorY;
  terminal.dispose();
  return drawn.slice(0, lastRow + 1);
}

const patience = { timeout: 60_000 + runs * 50 };

describe(`${runs} questions of random text, at ${widths.join(" and ")} columns`, patience, () => {
  test("hold exactly the text that runs, and no control characters", () => {
    fc.assert(fc.property(question, expectReversible), { numRuns: runs, seed: 20261122 });
  });

  test("fit the width of the terminal", async () => {
    const questions = fc.sample(question, { numRuns: runs, seed: 20261123 });
    for (const columns of widths) {
      for (let start = 0; start < questions.length; start += 200) {
        const batch = questions.slice(start, start + 200).map((one) => render(one, columns, true));
        const drawn = await draw(batch.map(({ coloured }) => coloured).join("\n"), columns);
        const expected = batch.flatMap(({ plain }) => plain.split("\n")).map((row) => row.trimEnd());
        expect(drawn.map((row) => row.trimEnd())).toEqual(expected);
      }
    }
  });

  test("name what they leave out, and nothing else", () => {
    const long = text.map((one) => `${one}\n`.repeat(40));
    const cut = question.chain((one) =>
      long.map((content) => ({ ...one, preview: { type: "new-file", path: "a", content, bytes: 1 } as const })),
    );
    const check = (request: ApprovalRequest) => {
      const { plain, isWhole } = render(request, 40, false);
      const all = expectedLines(request);
      const { lines, notes } = readQuestion(plain);
      expect(isWhole).toBe(!notes.some((note) => note.endsWith("more lines are not shown)")));
      if (isWhole) expect(lines).toEqual(all);
      else expect(lines.slice(0, -1)).toEqual(all.slice(0, lines.length - 1));
      expect(plain.split("\n").filter((row) => /^ {2}[|:] /.test(row)).length).toBeLessThanOrEqual(60);
    };
    fc.assert(fc.property(cut, check), { numRuns: Math.ceil(runs / 10), seed: 20261124 });
  });
});

test("show a command to its end, whatever precedes it", () => {
  const commands = [
    `# list the files\n${"\n".repeat(300)}touch canary`,
    `echo ok ${" ".repeat(5000)}; touch canary`,
    `echo ok\r\x1b[2K\x1b[1A; touch canary`,
    `echo ok \u202e${"#".repeat(3000)}; touch canary`,
    `echo ${"\u200b".repeat(500)}; touch canary`,
  ];
  const request = {
    runId: "r",
    callPath: "main/0.shell",
    worker: "main",
    tool: "shell",
    args: {},
    description: "d",
    why: "w",
    position: { n: 1, m: 1 },
    canRemember: true,
  };
  for (const command of commands) {
    for (const columns of widths) {
      const { plain, isWhole } = render({ ...request, preview: { type: "text", text: command } }, columns, false);
      expect(isWhole).toBe(true);
      expect(readQuestion(plain).lines.join("\n")).toBe(command);
    }
  }
});
