// Stands in for a language model: it counts numbers in the deck.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";
import { extractText } from "unpdf";

export default evaluate;

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
