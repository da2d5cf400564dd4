import { expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import type { Message } from "../../src/protocol/message.ts";
import { type Dialect, dialects } from "./dialects.ts";
import { file, generate, readFile, request, user } from "./fixtures.ts";
import { sendJson, startServer, testEnvironment } from "./local-server.ts";
import { type OwnDialect, ownDialects } from "./own-dialects.ts";

const files = {
  png: file("image-1", "image/png", "the picture"),
  wav: file("audio-2", "audio/wav", "the sound"),
  pdf: file("file-3", "application/pdf", "%PDF-1.7"),
  csv: file("file-4", "text/csv", "a,b"),
};

const answered: readonly Message[] = [
  user("Look"),
  { role: "assistant", parts: [{ type: "tool-call", id: "call_1", name: "read_file", args: {} }] },
  {
    role: "tool",
    parts: [
      {
        ...{ type: "tool-result", id: "call_1", name: "read_file" },
        result: { ok: true, value: "Here they are.", files: Object.values(files) },
      },
    ],
  },
];

const taken: Readonly<Record<string, readonly string[]>> = {
  anthropic: ["png", "pdf"],
  openai: ["png", "pdf"],
  azure: ["png", "pdf"],
  bedrock: ["png", "pdf"],
  xai: ["png"],
  google: ["png", "wav", "pdf"],
  vertex: ["png", "wav", "pdf"],
  "openai-compatible": ["png", "wav"],
  openrouter: ["png", "wav"],
  ollama: ["png", "wav"],
  groq: ["png"],
  together: ["png"],
  fireworks: ["png"],
  mistral: [],
  cohere: [],
  deepseek: [],
  cerebras: [],
};

const every: readonly (Dialect | OwnDialect)[] = [...dialects, ...ownDialects];
const rows = every.filter(({ name }) => name !== "perplexity").map((dialect) => [dialect.name, dialect] as const);

test.each(rows)("%s gets the files that it takes, and a sentence in the place of each other", async (name, dialect) => {
  await using server = await startServer((response) => sendJson(response, dialect.body({ text: "done" })));
  const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
  await generate(model, request(answered, { tools: [readFile] }), false);
  const body = JSON.stringify(server.requests[0]?.body);
  const sent = Object.entries(files).flatMap(([kind, { data }]) => (body.includes(data) ? [kind] : []));
  expect(sent, `${name}: its row of \`taken\` here`).toEqual(taken[name]);
  const sentences = body.match(/\[\S+ is not shown: this model takes no [^\]]* from tools\]/g) ?? [];
  expect(sentences).toHaveLength(3 - sent.length);
  for (const text of ["Here they are.", "File file-4:", "a,b"]) expect(body).toContain(text);
});
