import { spawn } from "node:child_process";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  type ContentBlock,
  client,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { expect, onTestFinished, test } from "vitest";
import { bin, cleanEnvironment, runCli } from "../cli/run-cli.ts";
import { createDoorWorld, picture } from "./world.ts";

/** Connects the official client to the command. `choose` answers a question by the id of an option; undefined: cancelled. */
async function connect(folder: string, choose: (question: RequestPermissionRequest) => string | undefined = () => "deny") {
  const child = spawn(process.execPath, [bin, "acp", folder, "--trust"], {
    cwd: folder,
    env: cleanEnvironment(folder),
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill());
  const updates: SessionUpdate[] = [];
  const asked: RequestPermissionRequest[] = [];
  const app = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
      asked.push(params);
      const optionId = choose(params);
      return { outcome: optionId === undefined ? { outcome: "cancelled" } : { outcome: "selected", optionId } };
    });
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    Readable.toWeb(child.stdout) as unknown as ReadableStream<Uint8Array>,
  );
  const { agent } = app.connect(stream);
  const about = await agent.request(methods.agent.initialize, { protocolVersion: PROTOCOL_VERSION, clientCapabilities: {} });
  const begin = async () => (await agent.request(methods.agent.session.new, { cwd: folder, mcpServers: [] })).sessionId;
  const prompt = async (sessionId: string, ...blocks: (string | ContentBlock)[]) => {
    updates.length = 0;
    const parts = blocks.map((one) => (typeof one === "string" ? { type: "text" as const, text: one } : one));
    const { stopReason } = await agent.request(methods.agent.session.prompt, { sessionId, prompt: parts });
    return { stopReason, text: textOf(updates) };
  };
  return { agent, about, begin, prompt, updates, asked, child };
}

function textOf(updates: readonly SessionUpdate[]): string {
  const chunks = updates.flatMap((one) =>
    one.sessionUpdate === "agent_message_chunk" && one.content.type === "text" ? [one.content.text] : [],
  );
  return chunks.join("");
}

test("a conversation remembers its messages, and sessions do not share them", async () => {
  const { about, begin, prompt } = await connect((await createDoorWorld()).folder);
  expect(about).toMatchObject({ protocolVersion: 1, agentInfo: { name: "llm-do", title: "desk" } });
  const [one, other] = [await begin(), await begin()];
  expect(await prompt(one, "hello")).toEqual({ stopReason: "end_turn", text: "1 messages: hello" });
  expect((await prompt(one, "again")).text).toBe("2 messages: again");
  expect((await prompt(other, "here")).text).toBe("1 messages: here");
});

test("a question shows all that a person would see, with a diff, and an approval lets the call run", async () => {
  const world = await createDoorWorld();
  const { begin, prompt, asked, updates } = await connect(world.folder, () => "approve");
  expect((await prompt(await begin(), "write it")).text).toBe("written");
  expect(world.written()).toBe("hello1");
  expect(JSON.stringify(asked)).toContain("| hello1");
  expect(asked[0]?.toolCall.content).toContainEqual({
    type: "diff",
    path: join(realpathSync(world.folder), "out/a.txt"),
    newText: "hello1",
  });
  const calls = updates.filter(({ sessionUpdate }) => sessionUpdate.startsWith("tool_call"));
  expect(calls).toMatchObject([{ sessionUpdate: "tool_call", kind: "edit" }, { status: "completed" }]);
});

test("an answer that is no approval denies", async () => {
  const world = await createDoorWorld();
  const answers = ["deny", "rule-99", "__proto__", ["approve"] as unknown as string, undefined];
  let answered = 0;
  const { begin, prompt } = await connect(world.folder, () => answers[answered++]);
  for (const answer of answers) {
    expect((await prompt(await begin(), "write it")).text, String(answer)).toContain("not written: denied");
    expect(world.written(), String(answer)).toBeUndefined();
  }
  expect(answered).toBe(answers.length);
});

test("a rule that was allowed holds in later messages of the conversation, and in no other one", async () => {
  const world = await createDoorWorld();
  const { begin, prompt, asked } = await connect(world.folder, ({ options }) =>
    options.some(({ optionId }) => optionId === "rule-0") ? "rule-0" : "approve",
  );
  const session = await begin();
  await prompt(session, "write it");
  await prompt(session, "write more");
  expect(world.written()).toBe("hello2");
  expect(asked).toHaveLength(1);
  await prompt(await begin(), "write it");
  expect(asked).toHaveLength(2);
});

test("a message can be cancelled, and the conversation goes on as it was", async () => {
  const { agent, begin, prompt } = await connect((await createDoorWorld()).folder);
  const sessionId = await begin();
  const sleeping = prompt(sessionId, "sleep now");
  await expect(prompt(sessionId, "too early")).rejects.toThrow("being answered");
  await agent.notify(methods.agent.session.cancel, { sessionId });
  expect(await sleeping).toMatchObject({ stopReason: "cancelled" });
  expect((await prompt(sessionId, "next")).text).toBe("1 messages: next");
});

test("a picture that the model draws is shown", async () => {
  const { begin, prompt, updates } = await connect((await createDoorWorld()).folder);
  expect((await prompt(await begin(), "draw it")).text).toBe("drawn");
  expect(updates.at(-1)).toMatchObject({ content: { type: "image", mimeType: "image/png", data: picture } });
});

test("pictures are attachments; a link is a name, and no file that the client names is read", async () => {
  const world = await createDoorWorld();
  const { begin, prompt } = await connect(world.folder);
  const image = { type: "image" as const, mimeType: "image/png", data: picture };
  expect((await prompt(await begin(), "look", image)).text).toContain("image/png");
  const link = { type: "resource_link" as const, name: "passwd", uri: "file:///etc/passwd" };
  const { text } = await prompt(await begin(), "see ", link);
  expect(text).toContain("file:///etc/passwd");
  expect(text).not.toContain("root:");
});

test("earlier conversations are listed and loaded, and those of other programs are not", async () => {
  const world = await createDoorWorld();
  const first = await connect(world.folder);
  await first.prompt(await first.begin(), "hello");
  const { agent, prompt, updates } = await connect(world.folder);
  const { sessions } = await agent.request(methods.agent.session.list, {});
  expect(sessions).toMatchObject([{ title: "hello", cwd: world.folder }]);
  const sessionId = sessions[0]?.sessionId ?? "";
  await agent.request(methods.agent.session.load, { sessionId, cwd: world.folder, mcpServers: [] });
  expect(updates.map(({ sessionUpdate }) => sessionUpdate)).toEqual(["user_message_chunk", "agent_message_chunk"]);
  expect((await prompt(sessionId, "again")).text).toBe("2 messages: again");
  for (const id of ["../../x", "20260101-000000-aaaaaa"])
    await expect(agent.request(methods.agent.session.load, { sessionId: id, cwd: "/", mcpServers: [] })).rejects.toThrow();
  await expect(prompt("nobody", "hello")).rejects.toThrow("no session");
});

test("the command ends when the client is gone, and mistakes are told before it serves", async () => {
  const world = await createDoorWorld();
  const { child, begin, prompt } = await connect(world.folder);
  const sleeping = prompt(await begin(), "sleep now").catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.stdin?.end();
  expect(await ended).toBe(0);
  await sleeping;
  expect(await runCli(["acp", "."], { cwd: world.folder })).toMatchObject({ exitCode: 2, stdout: "" });
});
