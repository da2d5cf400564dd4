// Plays the model, so that no key is needed: calls the worker's tool, and answers with what it returned.
import { defineScript } from "llm-do/testing";

export default defineScript((request) => {
  const [returned] = request.toolResults();
  const [tool] = request.tools;
  if (!returned && tool) return { calls: [{ tool: tool.name, args: { text: request.lastUserText() } }] };
  return returned?.result.ok ? String(returned.result.value) : "The tool failed.";
});
