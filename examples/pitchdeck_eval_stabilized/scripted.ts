// Stands in for a language model: as `main` it takes the next step, as `pitch_evaluator` it counts numbers in the deck.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";
import { extractText } from "unpdf";

interface Listed {
  readonly deck: string;
  readonly report: string;
}

interface Rendered {
  readonly verdict: string;
  readonly markdown: string;
}

export default async function play(request: ScriptedRequest): Promise<ScriptedAnswer> {
  if (request.worker === "by_program") return playProgram(request);
  return request.worker === "main" ? playMain(request) : evaluate(request);
}

const program = `const decks = await call("list_decks");
return map(decks, async ({ deck, report }) => {
  const evaluation = await call("pitch_evaluator", { attachments: [deck] });
  const { verdict, markdown } = await call("render_report", evaluation);
  await call("write_file", { path: report, content: markdown });
  return evaluation.company + ": " + verdict + ", " + report;
});`;

/** Writes one program, and answers with what it returned. */
function playProgram(request: ScriptedRequest): ScriptedAnswer {
  const [ran] = request.toolResults();
  if (!ran) return { calls: [{ tool: "run_program", args: { source: program } }] };
  if (!ran.result.ok) return `Stopped: ${ran.result.error.error}`;
  const { result } = ran.result.value as unknown as { readonly result: readonly string[] };
  return result.join("\n");
}

function playMain(request: ScriptedRequest): ScriptedAnswer {
  const results = request.toolResults();
  const [first] = results;
  if (!first) return { calls: [{ tool: "list_decks" }] };
  const failed = results.find(({ result }) => !result.ok);
  if (failed && first.name !== "write_file") return `Stopped: ${JSON.stringify(failed.result)}`;
  const decks = valuesOf(request, "list_decks").flat() as unknown as readonly Listed[];
  if (first.name === "list_decks")
    return { calls: decks.map(({ deck }) => ({ tool: "pitch_evaluator", args: { attachments: [deck] } })) };
  if (first.name === "pitch_evaluator")
    return { calls: valuesOf(request, "pitch_evaluator").map((args) => ({ tool: "render_report", args })) };
  const reports = valuesOf(request, "render_report") as unknown as readonly Rendered[];
  if (first.name === "render_report")
    return {
      calls: reports.map(({ markdown }, index) => ({
        tool: "write_file",
        args: { path: decks[index]?.report ?? "", content: markdown },
      })),
    };
  return reports
    .map(({ verdict, markdown }, index) => `${markdown.split("\n")[0]?.slice(2)}: ${verdict}, ${decks[index]?.report}`)
    .join("\n");
}

/** The results of a tool's calls, in the order of the calls. */
function valuesOf({ messages }: ScriptedRequest, tool: string) {
  return messages.flatMap((message) =>
    message.role === "tool"
      ? message.parts.flatMap(({ name, result }) => (name === tool && result.ok ? [result.value] : []))
      : [],
  );
}

// Scores a deck by its pages with numbers, from the text of the PDF bytes that arrived.
async function evaluate(request: ScriptedRequest): Promise<ScriptedAnswer> {
  const [deck] = request.files();
  if (deck?.mediaType !== "application/pdf") return request.unexpected("one PDF");
  const { text: pages } = await extractText(new Uint8Array(deck.bytes));
  const page = (topic: string) => pages.find((text) => text.toLowerCase().startsWith(topic));
  const score = (topic: string) => {
    const figures = page(topic)?.match(/\d[\d,.]*/g)?.length;
    return page(topic) === undefined ? 1 : Math.min(5, 2 + Math.floor((figures ?? 0) / 2));
  };
  const criteria = ["problem", "market", "traction", "team"];
  const company = pages[0]?.split("\n")[0]?.trim() ?? "";
  return {
    json: {
      company,
      summary: `${company} has ${pages.length} pages.`,
      scores: Object.fromEntries(criteria.map((topic) => [topic, score(topic)])),
      red_flags: criteria.filter((topic) => page(topic) === undefined).map((topic) => `There is no page on ${topic}.`),
    },
  };
}
