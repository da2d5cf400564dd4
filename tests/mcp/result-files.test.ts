import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { replay } from "../../src/index.ts";
import { anthropic, chat, type Dialect } from "../models/dialects.ts";
import {
  type Answer,
  asksForStream,
  type LocalServer,
  type Recorded,
  sendEvents,
  sendJson,
  startServer,
} from "../models/local-server.ts";
import { runsIn } from "../records.ts";
import { calling, createMcpWorld, everything, type McpPlayed, type McpWorld, own } from "./play-mcp.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const wav = Buffer.concat([Buffer.from("RIFF"), Buffer.from([40, 0, 0, 0]), Buffer.from("WAVEfmt "), Buffer.alloc(28)]).toString(
  "base64",
);
const pdf = Buffer.from("%PDF-1.7\n").toString("base64");

/** A picture, a sound and a binary resource, with texts. */
const content = [
  { type: "text", text: "Here they are." },
  { type: "image", data: png, mimeType: "image/png" },
  { type: "audio", data: wav, mimeType: "audio/wav" },
  { type: "resource", resource: { uri: "test://paper", mimeType: "application/pdf", blob: pdf } },
];

interface Asked {
  readonly world: McpWorld;
  readonly server: LocalServer;
  readonly played: McpPlayed;
}

/** A provider's server whose model calls `tool` first, over the wire of `dialect`. */
async function ask(dialect: Dialect, tool: string, refuse?: (index: number) => boolean): Promise<Asked> {
  const answer: Answer = (response, recorded, index) => {
    if (refuse?.(index)) return sendJson(response, dialect.error("this model takes no images"), 400);
    const canned = index === 0 ? { calls: [{ id: "call_1", tool, args: "{}" }] } : { text: "done" };
    return asksForStream(recorded) ? sendEvents(response, dialect.events(canned)) : sendJson(response, dialect.body(canned));
  };
  const server = await startServer(answer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const world = createMcpWorld();
  world.put("files.json", JSON.stringify(content));
  const host = createNodeHost({ environment: { ...world.environment, ...dialect.variables(server.url) } });
  const played = await world.play({
    servers: { own, all: { ...everything, tools: ["get-tiny-image"] } },
    model: calling(),
    request: { host, model: dialect.model, providers: [] },
  });
  return { world, server, played };
}

const bodyOf = ({ server }: Asked, index = 1) => JSON.stringify(server.requests[index]?.body);

test("the picture of a reference server goes to the model as a picture", async () => {
  const asked = await ask(anthropic, "all__get-tiny-image");
  expect(asked.played.error).toBeUndefined();
  const [result] = anthropic.results(asked.server.requests[1] as Recorded);
  expect(result?.content).toEqual([
    { type: "text", text: expect.stringContaining("[image-1, image/png, ") },
    { type: "image", source: { type: "base64", media_type: "image/png", data: expect.stringMatching(/^iVBORw0KGgo/) } },
  ]);
});

test("a wire with texts alone as results has the files in a message after them", async () => {
  const asked = await ask(chat, "own__files");
  const [result, after] = asked.server.requests[1]?.body.messages.slice(-2) ?? [];
  expect(result).toMatchObject({ role: "tool", tool_call_id: "call_1", content: expect.stringContaining("Here they are.") });
  expect(after).toMatchObject({
    role: "user",
    content: [{ text: "From the result of the tool own__files: image-1, audio-2" }, {}, {}],
  });
});

test("a model that refuses the files of its provider's others gets sentences", async () => {
  const asked = await ask(chat, "own__files", (index) => index === 1);
  expect(asked.played.output?.output).toBe("done");
  expect(bodyOf(asked)).toContain(png);
  expect(bodyOf(asked, 2)).not.toContain(png);
  expect(bodyOf(asked, 2)).toContain("[image-1 is not shown: this model takes no image/png from tools]");
  const warnings = asked.played.events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
  expect(warnings.join()).toContain("refused the files of tool results, and gets a sentence in their place");
});

test("the record holds each file once, and events none; a replay is the same", async () => {
  const { world, played, server } = await ask(anthropic, "own__files");
  const folder = runsIn(world.folder, world.environment["LLM_DO_STATE_DIR"]);
  const directory = join(folder, readdirSync(folder).find((name) => !name.includes(".")) ?? "");
  const journal = readFileSync(join(directory, "journal.jsonl"), "utf8");
  for (const text of [journal, JSON.stringify(played.events)]) expect(text).not.toContain(png);
  const blobs = readdirSync(join(directory, "blobs")).map((name) =>
    readFileSync(join(directory, "blobs", name)).toString("base64"),
  );
  expect(blobs.filter((blob) => blob === png)).toHaveLength(1);
  const host = createNodeHost({ environment: { ...world.environment, ...anthropic.variables(server.url) } });
  const source = { target: world.folder, host, trust: true, model: anthropic.model };
  expect(await replay({ ...source, directory })).toMatchObject({ same: true });
});
