// An MCP server without a library: it reads requests from stdin and writes answers to stdout, a line each. A server of your own
// would be made with `@modelcontextprotocol/server`.
import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const notes = new Map(readdirSync("notes").map((name) => [name, readFileSync(`notes/${name}`, "utf8")]));
const text = (name, description) => ({
  type: "object",
  properties: { [name]: { type: "string", description } },
  required: [name],
});

const tools = {
  search: {
    description: "Find notes that hold a word. Returns their names, each with its first line.",
    inputSchema: text("word", "In any case."),
    run: ({ word }) => {
      const found = [...notes].filter(([, note]) => note.toLowerCase().includes(String(word).toLowerCase()));
      return found.map(([name, note]) => `${name}: ${note.split("\n", 1)[0]}`).join("\n") || "no note has this word";
    },
  },
  read: {
    description: "Read a whole note.",
    inputSchema: text("name", "As `search` gave it."),
    run: ({ name }) => {
      const note = notes.get(name);
      if (note === undefined) throw new Error(`there is no note ${name}`);
      return note;
    },
  },
  // The manifest does not list it, so that no worker has it.
  count: { description: "Count the notes.", inputSchema: { type: "object" }, run: () => String(notes.size) },
};

function call({ name, arguments: args = {} }) {
  try {
    return { content: [{ type: "text", text: tools[name].run(args) }] };
  } catch (error) {
    return { content: [{ type: "text", text: error.message }], isError: true };
  }
}

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "notes", version: "1" },
  }),
  "tools/list": () => ({ tools: Object.entries(tools).map(([name, { run: _, ...tool }]) => ({ name, ...tool })) }),
  "tools/call": call,
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line);
  if (id === undefined) continue;
  const answer = methods[method] ? { result: methods[method](params) } : { error: { code: -32601, message: "no such method" } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...answer })}\n`);
}
