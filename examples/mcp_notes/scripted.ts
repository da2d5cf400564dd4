// This is not a language model. It stands in for one, so that the example runs without a key and without a network: it searches for
// the longest word of the question, reads the first note that is found, and quotes its last line.
import { defineScript } from "llm-do/testing";

export default defineScript((request) => {
  const [last] = request.toolResults();
  if (last === undefined) return { calls: [{ tool: "notes__search", args: { word: longestWord(request.lastUserText()) } }] };
  if (!last.result.ok) return `I could not look it up: ${last.result.error.error}`;
  const found = String(last.result.value);
  const [, name] = /^([\w.-]+): /.exec(found) ?? [];
  if (name !== undefined) return { calls: [{ tool: "notes__read", args: { name } }] };
  return found.trim().split("\n").at(-1) ?? "";
});

function longestWord(question: string): string {
  const words = [...question.matchAll(/\w+/g)].map(([word]) => word);
  return words.reduce((longest, word) => (word.length > longest.length ? word : longest), "");
}
