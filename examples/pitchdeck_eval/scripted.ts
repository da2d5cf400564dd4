// This is not a language model. It stands in for one, so that the example runs without a key and without a network,
// and gives the same result each time. It knows this program's two workers and answers anything else with an error.
//
// As `main` it looks at what it has done so far and takes the next step: list the decks, have each evaluated, write the
// reports, sum up. As `pitch_evaluator` it takes the text out of the PDF bytes that it was sent and fills in the report
// by counting: a statement with a number in it is evidence, and nothing else is. All that a report says about a deck
// comes out of those bytes, so an attachment that did not arrive is an error and never a report.
//
// It reads decks that are laid out as scripts/make-pitchdecks.ts does it: the company on the first page; then one topic
// a page, named in the page's first line, with a title, bullets, and the page's number at the foot.
import type { ScriptedAnswer, ScriptedReply, ScriptedRequest } from "llm-do/testing";
import { extractText } from "unpdf";

export default async function play(request: ScriptedRequest): Promise<ScriptedReply> {
  const answer = await playWorker(request);
  const reply = typeof answer === "object" ? answer : { text: answer ?? "" };
  return { ...reply, usage: { inputTokens: tokens([request.system, request.messages]), outputTokens: tokens(reply) } };
}

/** A stand-in's guess at what a model would have counted: four characters a token. */
function tokens(value: unknown): number {
  return Math.ceil(JSON.stringify(value).length / 4);
}

async function playWorker(request: ScriptedRequest): Promise<ScriptedAnswer> {
  try {
    if (request.worker === "main") return playMain(request);
    if (request.worker === "pitch_evaluator") return await playEvaluator(request);
    throw new Error(`no worker "${request.worker}" is known here`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { error: { code: "unexpected_request", message: `pitchdeck_eval/scripted.ts: ${message}` } };
  }
}

// ---- main

type Result = ReturnType<ScriptedRequest["toolResults"]>[number]["result"];

interface Done {
  readonly tool: string;
  readonly args: unknown;
  readonly result: Result;
}

function playMain(request: ScriptedRequest): ScriptedAnswer {
  for (const tool of ["list_files", "pitch_evaluator", "write_file"]) {
    if (!request.hasTool(tool)) throw new Error(`main was offered no tool "${tool}"`);
  }
  const done = doneSoFar(request);
  const evaluations = done.filter(({ tool }) => tool === "pitch_evaluator");
  const writes = done.filter(({ tool }) => tool === "write_file");
  const listing = done.find(({ tool }) => tool === "list_files");

  if (listing === undefined) return { calls: [{ tool: "list_files", args: { path: "decks" } }] };
  if (evaluations.length === 0) {
    const decks = listedDecks(listing.result);
    if (decks.length === 0) return "There are no decks to evaluate.";
    return { calls: decks.map((deck) => ({ tool: "pitch_evaluator", args: { attachments: [deck] } })) };
  }
  const evaluated = evaluations.filter(({ result }) => result.ok);
  if (writes.length === 0 && evaluated.length > 0) {
    return {
      calls: evaluated.map((evaluation) => ({
        tool: "write_file",
        args: { path: reportPath(deckOf(evaluation)), content: reportOf(evaluation) },
      })),
    };
  }
  return summary(evaluations, writes);
}

/** Every call since the user spoke, with its arguments and its result. */
function doneSoFar({ messages }: ScriptedRequest): Done[] {
  const start = messages.findLastIndex(({ role }) => role === "user");
  return messages.slice(start + 1).flatMap((message, index, all) => {
    if (message.role !== "assistant") return [];
    const calls = message.parts.filter((part) => part.type === "tool-call");
    const answer = all[index + 1];
    return calls.map(({ id, name, args }) => {
      const part = answer?.role === "tool" ? answer.parts.find((result) => result.id === id) : undefined;
      if (part === undefined) throw new Error(`the call of ${name} has no result`);
      return { tool: name, args, result: part.result };
    });
  });
}

function listedDecks(result: Result): string[] {
  if (!result.ok) throw new Error(`the decks could not be listed: ${result.error.error}`);
  const files = field(result.value, "files");
  if (!Array.isArray(files)) throw new Error(`list_files gave no files: ${JSON.stringify(result.value)}`);
  if (field(result.value, "truncated") === true) throw new Error("there are more decks than one listing holds");
  return files.map(text).filter((path) => path.endsWith(".pdf"));
}

function deckOf({ args }: Done): string {
  const attachments = field(args, "attachments");
  return text(Array.isArray(attachments) ? attachments[0] : undefined);
}

function reportOf({ result }: Done): string {
  if (!result.ok) throw new Error("a deck that was not evaluated has no report");
  return text(result.value);
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function reportPath(deck: string): string {
  return `reports/${fileName(deck).replace(/\.pdf$/, "")}.md`;
}

function summary(evaluations: readonly Done[], writes: readonly Done[]): string {
  let written = 0;
  let notWritten = 0;
  const rows = evaluations.map((evaluation) => {
    const deck = deckOf(evaluation);
    if (!evaluation.result.ok) {
      return row([fileName(deck), "", "", "", `not evaluated: ${evaluation.result.error.error}`]);
    }
    const report = reportOf(evaluation);
    const company = report.match(/^# (.+)$/m)?.[1];
    const [, verdict, total] = report.match(/^\*\*Verdict: (go|watch|pass)\*\*, (\d+ of 30)\./m) ?? [];
    if (company === undefined || verdict === undefined || total === undefined) {
      throw new Error(`the report of ${deck} is not one of pitch_evaluator's`);
    }
    const path = reportPath(deck);
    const write = writes.find(({ args }) => field(args, "path") === path);
    if (write === undefined) throw new Error(`${path} was never written`);
    if (write.result.ok) written += 1;
    else notWritten += 1;
    return row([
      fileName(deck),
      company,
      verdict,
      total,
      write.result.ok ? path : `not written (${write.result.error.type}): ${write.result.error.error}`,
    ]);
  });
  const notEvaluated = evaluations.length - written - notWritten;
  return [
    row(["Deck", "Company", "Verdict", "Total", "Report"]),
    row(["---", "---", "---", "---", "---"]),
    ...rows,
    "",
    `Reports written: ${written}. Reports not written: ${notWritten}. Decks not evaluated: ${notEvaluated}.`,
  ].join("\n");
}

// ---- pitch_evaluator

const criteria = ["Problem", "Solution", "Market", "Traction", "Team", "Ask"];

const warnings: readonly (readonly [said: RegExp, flag: string])[] = [
  [/\bno compet(?:ition|itors?)\b/i, "Says that there is no competition"],
  [/\bguaranteed?\b/i, "Promises a guarantee"],
  [/\bpre-revenue\b/i, "Has no revenue"],
  [/\bnot yet signed\b/i, "Counts on what is not signed"],
];

interface Page {
  readonly number: number;
  readonly topic: string;
  /** The title and the bullets. */
  readonly statements: readonly string[];
}

interface Score {
  readonly criterion: string;
  readonly score: number;
  readonly evidence: string;
}

async function playEvaluator(request: ScriptedRequest): Promise<ScriptedAnswer> {
  const files = request.files();
  const [file] = files;
  if (file === undefined || files.length > 1) throw new Error(`one deck was expected, ${files.length} files arrived`);
  if (file.mediaType !== "application/pdf") throw new Error(`${file.name} is ${file.mediaType}, not application/pdf`);
  const { company, pages } = await readDeck(file.name, file.bytes);
  return report(company, pages);
}

async function readDeck(name: string, bytes: Uint8Array): Promise<{ company: string; pages: Page[] }> {
  // A plain copy: the PDF library takes the buffer for itself, and refuses Node's Buffer.
  const { text: texts } = await extractText(new Uint8Array(bytes));
  const [cover, ...rest] = texts.map((page) => page.split("\n").map((line) => line.trim()));
  const company = cover?.[0] ?? "";
  if (company === "") throw new Error(`${name} has no text on its first page`);
  const pages = rest.map((lines, index) => readPage(name, index + 2, lines));
  if (!pages.some(({ topic }) => criteria.includes(topic))) {
    throw new Error(`${name} is not laid out like the decks of this example: no page of it names a topic that is known here`);
  }
  return { company, pages };
}

function readPage(name: string, number: number, lines: readonly string[]): Page {
  const [topic, title, ...rest] = lines;
  const foot = rest.pop();
  if (topic === undefined || title === undefined || foot === undefined || !foot.includes(`page ${number} of `)) {
    throw new Error(`page ${number} of ${name} has no topic, title and page number`);
  }
  // What a chart says stands between the title and the first bullet. A bullet may go on in the next line.
  const [, ...bullets] = rest.join(" ").split("• ");
  return { number, topic, statements: [title, ...bullets.map((bullet) => bullet.trim())] };
}

function hasFigure(statement: string): boolean {
  return /\d/.test(statement);
}

function quote(statement: string, page: Page): string {
  return `"${statement}" (page ${page.number})`;
}

/** 1 for a criterion without a page; otherwise 2, and 1 more for each statement with a figure, up to 5. */
function score(criterion: string, pages: readonly Page[]): Score {
  const page = pages.find(({ topic }) => topic === criterion);
  if (page === undefined) return { criterion, score: 1, evidence: "not in the deck" };
  const figures = page.statements.filter(hasFigure);
  return {
    criterion,
    score: Math.min(5, 2 + figures.length),
    evidence: quote(figures[0] ?? page.statements[0] ?? "", page),
  };
}

function redFlags(pages: readonly Page[]): string[] {
  const ofCriteria = criteria.flatMap((criterion) => {
    const page = pages.find(({ topic }) => topic === criterion);
    if (page === undefined) return [`${criterion} is missing from the deck.`];
    return page.statements.some(hasFigure) ? [] : [`${criterion} is claimed without a number (page ${page.number}).`];
  });
  const ofWords = warnings.flatMap(([said, flag]) =>
    pages.flatMap((page) =>
      page.statements.filter((statement) => said.test(statement)).map((statement) => `${flag}: ${quote(statement, page)}.`),
    ),
  );
  return [...ofCriteria, ...ofWords];
}

function report(company: string, pages: readonly Page[]): string {
  const scores = criteria.map((criterion) => score(criterion, pages));
  const total = scores.reduce((sum, one) => sum + one.score, 0);
  const missing = criteria.filter((criterion) => !pages.some(({ topic }) => topic === criterion));
  const verdict = total >= 24 && missing.length === 0 ? "go" : total >= 15 ? "watch" : "pass";
  const flags = redFlags(pages);
  const figures = pages.flatMap((page) =>
    page.statements.filter(hasFigure).map((statement) => `Page ${page.number}: ${statement}`),
  );
  return `${[
    `# ${company}`,
    "",
    `**Verdict: ${verdict}**, ${total} of 30. The deck backs ${figures.length} statements with a number and leaves out ${
      missing.length === 0 ? "none of the six criteria" : missing.join(", ").toLowerCase()
    }.`,
    "",
    "## Scores",
    "",
    row(["Criterion", "Score", "Evidence"]),
    row(["---", "---", "---"]),
    ...scores.map((one) => row([one.criterion, String(one.score), one.evidence])),
    "",
    "## Red flags",
    "",
    ...(flags.length === 0 ? ["None found."] : flags).map((flag) => `- ${flag}`),
    "",
    "## Figures in the deck",
    "",
    ...figures.map((figure) => `- ${figure}`),
  ].join("\n")}\n`;
}

// ---- for both

/** A line of a Markdown table. */
function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function text(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new Error(`text was expected, not ${JSON.stringify(value)}`);
  return value;
}
