// Stands in for a language model: it takes the text out of the PDF bytes that reached it, and scores a deck by its pages with numbers.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";
import { extractText } from "unpdf";

interface Evaluation {
  readonly deck_id: string;
  readonly file_slug: string;
  readonly summary: string;
  readonly scores: Readonly<Record<string, number>>;
  readonly verdict: string;
  readonly red_flags?: readonly string[];
}

export default async function play(request: ScriptedRequest): Promise<ScriptedAnswer> {
  return request.worker === "main" ? playMain(request) : evaluate(request);
}

function playMain(request: ScriptedRequest): ScriptedAnswer {
  const results = request.toolResults();
  const [first] = results;
  if (!first) return { calls: [{ tool: "list_files", args: { path: "pipeline" } }] };
  if (!first.result.ok && first.name !== "write_file") return `Stopped: ${first.result.error.error}`;
  if (first.name === "list_files" || first.name === "read_file") {
    const files = listed(request);
    const text = first.name === "read_file" && first.result.ok ? (first.result.value as { content: string }).content : undefined;
    if (text === undefined && files.includes("pipeline/PROCEDURE.md"))
      return { calls: [{ tool: "read_file", args: { path: "pipeline/PROCEDURE.md" } }] };
    const context = text === undefined ? {} : { extra_context: [text] };
    const decks = files.filter((file) => file.endsWith(".pdf"));
    return {
      calls: decks.map((deck) => ({
        tool: "worker_call",
        args: { input: deck.slice("pipeline/".length), attachments: [deck], ...context, expect_json: true },
      })),
    };
  }
  if (first.name === "worker_call") {
    const done = results.flatMap(({ result }) => (result.ok ? [result.value as unknown as Evaluation] : []));
    return {
      calls: done.map((one) => ({
        tool: "write_file",
        args: { path: `evaluations/${one.file_slug}.md`, content: report(one) },
      })),
    };
  }
  return resultsOf(request, "worker_call")
    .flatMap(({ result }) => (result.ok ? [result.value as unknown as Evaluation] : []))
    .map(({ deck_id, verdict, file_slug }) => `${deck_id}: ${verdict}, evaluations/${file_slug}.md`)
    .join("\n");
}

/** The files of the one listing. */
function listed(request: ScriptedRequest): readonly string[] {
  const [listing] = resultsOf(request, "list_files");
  return listing?.result.ok ? (listing.result.value as { files: string[] }).files : [];
}

function resultsOf({ messages }: ScriptedRequest, tool: string) {
  return messages.flatMap((message) => (message.role === "tool" ? message.parts.filter(({ name }) => name === tool) : []));
}

function report({ deck_id, summary, scores, verdict, red_flags = [] }: Evaluation): string {
  const rows = Object.entries(scores).map(([name, score]) => `| ${name} | ${score} |`);
  const flags = red_flags.map((flag) => `- ${flag}`);
  return [
    `# ${deck_id}`,
    `**Verdict: ${verdict}**`,
    summary,
    ["| Criterion | Score |", "| --- | --- |", ...rows].join("\n"),
    ...(flags.length > 0 ? ["## Red flags", flags.join("\n")] : []),
  ]
    .join("\n\n")
    .concat("\n");
}

async function evaluate(request: ScriptedRequest): Promise<ScriptedAnswer> {
  const [deck] = request.files();
  if (deck?.mediaType !== "application/pdf") return request.unexpected("one PDF");
  if (!texts(request).some((text) => text.includes("# Procedure"))) return request.unexpected("the procedure");
  const { text: pages } = await extractText(new Uint8Array(deck.bytes));
  const page = (topic: string) => pages.find((text) => text.toLowerCase().startsWith(topic));
  const figures = (text: string) => (text.match(/\d[\d,.]*/g) ?? []).length;
  const criteria = ["problem", "market", "traction", "team"];
  const scores = Object.fromEntries(
    criteria.map((topic) => {
      const text = page(topic);
      return [topic, text === undefined ? 1 : Math.min(5, 2 + Math.floor(figures(text) / 2))];
    }),
  );
  const total = Object.values(scores).reduce((sum, score) => sum + score, 0);
  const company = pages[0]?.split("\n")[0]?.trim() ?? "";
  return {
    json: {
      deck_id: company,
      file_slug: deck.name.replace(/^.*\//, "").replace(/\.pdf$/, ""),
      summary: `${company} has ${pages.length} pages and scores ${total} of 20.`,
      scores,
      verdict: total >= 15 ? "go" : total >= 9 ? "watch" : "pass",
      red_flags: criteria
        .filter((topic) => page(topic) === undefined)
        .map((topic) => `There is no page on ${topic}.`)
        .slice(0, 3),
    },
  };
}

function texts({ messages }: ScriptedRequest): readonly string[] {
  return messages.flatMap(({ role, parts }) =>
    role === "user" ? parts.flatMap((part) => (part.type === "text" ? [part.text] : [])) : [],
  );
}
