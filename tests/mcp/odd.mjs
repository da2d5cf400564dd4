// An MCP server that answers as `answers.json` in its folder says: members of results by method.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const answers = JSON.parse(readFileSync("answers.json", "utf8"));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const usual = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "odd", version: "1" },
  }),
  "tools/list": () => ({ tools: [{ name: "say", inputSchema: { type: "object" } }] }),
  "tools/call": () => ({ content: [{ type: "text", text: "said" }] }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = usual[method]?.(params);
  if (!result) send({ id, error: { code: -32601, message: "not found" } });
  // JSON cannot be made of what is nested too deep.
  else if (answers.deep && answers.deep.method === method) {
    const text = JSON.stringify({ ...result, ...answers[method] });
    const deep = `${"[".repeat(answers.deep.levels)}${"]".repeat(answers.deep.levels)}`;
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${text.replace('"deep"', deep)}}\n`);
  } else send({ id, result: { ...result, ...answers[method] } });
}
