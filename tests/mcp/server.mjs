// An MCP server of few lines, which behaves as badly as its tools are asked to. `tools.json` in its folder lists more of them.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createConnection } from "node:net";
import { createInterface } from "node:readline";

const count = Number(process.argv[2] ?? 0);
const many = Array.from({ length: count }, (_, index) => ({ name: `tool_${index}`, description: "One of many." }));
const own = ["add", "env", "die", "hang", "flood", "line", "write", "connect", "fail", "elicit", "sample", "files"].map(
  (name) => ({
    name,
  }),
);
const read = existsSync("tools.json") ? JSON.parse(readFileSync("tools.json", "utf8")) : [];
const tools = [...own, ...many, ...read].map((tool) => ({
  inputSchema: { type: "object" },
  annotations: { readOnlyHint: true },
  ...tool,
}));
let nextId = 1;
const elicitations = new Map();

const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const say = (text) => ({ content: [{ type: "text", text: String(text) }] });
const attempt = (work) => {
  try {
    return work() ?? say("done");
  } catch (error) {
    return say(error.code);
  }
};

const actions = {
  add: ({ a, b }) => ({ content: [], structuredContent: { sum: a + b } }),
  env: () => say(JSON.stringify(process.env)),
  die: () => {
    process.stderr.write("out of memory\n");
    process.exit(9);
  },
  hang: () => undefined,
  flood: () => say("x".repeat(500_000)),
  line: () => {
    process.stdout.write("x".repeat(11_000_000));
  },
  write: ({ path }) => attempt(() => writeFileSync(path, "written")),
  read: ({ path }) => attempt(() => say(readFileSync(path, "utf8"))),
  connect: ({ port }) =>
    new Promise((resolve) => {
      const socket = createConnection({ port, host: "127.0.0.1" });
      socket.on("connect", () => resolve(say("connected")));
      socket.on("error", (error) => resolve(say(error.code)));
    }),
  fail: () => ({ ...say("no such row"), isError: true }),
  files: () => ({ content: JSON.parse(readFileSync("files.json", "utf8")) }),
  elicit: () =>
    new Promise((resolve) => {
      const id = `elicit-${nextId++}`;
      elicitations.set(id, (answer) => resolve(say(answer.error ? "refused" : JSON.stringify(answer.result))));
      send({
        id,
        method: "elicitation/create",
        params: { message: "Which room?", requestedSchema: { type: "object", properties: { room: { type: "string" } } } },
      });
    }),
  sample: () =>
    new Promise((resolve) => {
      const id = `sample-${nextId++}`;
      elicitations.set(id, (answer) => resolve(say(answer.error?.message ?? "sampled")));
      send({ id, method: "sampling/createMessage", params: { messages: [], maxTokens: 10 } });
    }),
};

async function answer({ id, method, params = {} }) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    const instructions = existsSync("instructions.txt") ? readFileSync("instructions.txt", "utf8") : undefined;
    const capabilities = { tools: {}, ...(existsSync("resources.json") ? { resources: {} } : {}) };
    return send({ id, result: { protocolVersion, capabilities, instructions, serverInfo: { name: "own", version: "1" } } });
  }
  if (method === "tools/list") return send({ id, result: { tools } });
  if (method !== "tools/call") return send({ id, error: { code: -32601, message: "not found" } });
  const action = actions[params.name] ?? (() => say(`called ${params.name}`));
  const result = await action(params.arguments ?? {});
  if (result !== undefined) send({ id, result });
}

// Servers log on stdout, though they should not.
process.stdout.write("starting\n");
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.method !== undefined && message.id !== undefined) answer(message);
  else elicitations.get(message.id)?.(message);
}
