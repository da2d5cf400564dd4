import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished, test } from "vitest";
import { type Block, readBlocks } from "../../scripts/check-docs.ts";
import { bin, cleanEnvironment, temporaryFolder } from "../cli/run-cli.ts";
import { startRaw } from "./raw-client.ts";

/*
 * Walks docs/doors.md as a reader does: writes its files, runs its commands, and starts what its configurations name as a client would.
 * The packages of OpenTelemetry are there already.
 */

const repository = resolve(import.meta.dirname, "../..");
const blocks = readBlocks(readFileSync(join(repository, "docs/doors.md"), "utf8"));
const ofLanguage = (language: string) => blocks.filter((block) => block.language === language);

interface Walk {
  readonly folder: string;
  readonly env: Record<string, string>;
}

async function beginWalk(): Promise<Walk> {
  const folder = join(await temporaryFolder(), "ada");
  for (const { marks, text } of blocks) {
    const file = marks.get("file");
    if (file === undefined) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  writeFileSync(join(folder, "model.json"), JSON.stringify([{ reply: "Nothing is open." }]));
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/llm-do"), `#!/bin/sh\nexec "${process.execPath}" "${bin}" "$@"\n`, { mode: 0o755 });
  writeFileSync(
    join(folder, "bin/npm"),
    '#!/bin/sh\nfor name in "$@"; do [ -z "${name##@*}" ] && ls -d "node_modules/$name"; done\n',
    {
      mode: 0o755,
    },
  );
  mkdirSync(join(folder, "node_modules"));
  for (const name of ["@opentelemetry", "zod"])
    symlinkSync(join(repository, "node_modules", name), join(folder, "node_modules", name));
  symlinkSync(repository, join(folder, "node_modules/llm-do"));
  const env = cleanEnvironment(folder);
  return {
    folder,
    env: { ...env, PATH: `${join(folder, "bin")}:${env["PATH"]}`, LLM_DO_MODEL: `scripted:${join(folder, "model.json")}` },
  };
}

function run({ folder, env }: Walk, script: string) {
  const { status, stdout, stderr } = spawnSync("bash", ["-e", "-c", script], { cwd: folder, env, encoding: "utf8", input: "" });
  expect({ script, status, stderr }).toMatchObject({ status: 0 });
  return stdout;
}

/** Commands that serve until their client is gone. */
const isServer = ({ text }: Block) => /^llm-do (?:mcp|acp) (?!.*--print-config)/.test(text);
const printsConfig = ({ text }: Block) => text.includes("--print-config");

async function callAsMcpClient({ folder, env }: Walk, command: string, args: readonly string[]) {
  const client = new Client({ name: "walk", version: "1" });
  await client.connect(new StdioClientTransport({ command, args: [...args], env, cwd: folder, stderr: "pipe" }));
  onTestFinished(() => client.close());
  const { content } = await client.callTool({ name: "desk", arguments: { input: "What is open?" } });
  await client.close();
  expect(content).toEqual([{ type: "text", text: "Nothing is open." }]);
}

async function talkAsEditor({ folder, env }: Walk, args: readonly string[]) {
  const { request } = startRaw(args, folder, { LLM_DO_MODEL: env["LLM_DO_MODEL"] ?? "" });
  await request("initialize", { protocolVersion: 1, clientCapabilities: {} }).answer;
  const { result } = await request("session/new", { cwd: folder, mcpServers: [] }).answer;
  const prompt = [{ type: "text", text: "What is open?" }];
  const { answer } = request("session/prompt", { sessionId: result?.["sessionId"], prompt });
  expect((await answer).result).toEqual({ stopReason: "end_turn" });
}

/** The configuration with the paths of the page's reader. */
const asOnPage = (text: string, { folder }: Walk) =>
  text
    .replaceAll(process.execPath, "/usr/bin/node")
    .replaceAll(bin, "/home/ada/node_modules/llm-do/bin/llm-do.js")
    .replaceAll(folder, "/home/ada");

test("each command that serves is started by a client", async () => {
  const walk = await beginWalk();
  const servers = ofLanguage("sh").filter(isServer);
  expect(servers).toHaveLength(3);
  for (const { text } of servers)
    if (text.startsWith("llm-do acp")) await talkAsEditor(walk, text.trim().split(" ").slice(1));
    else await callAsMcpClient(walk, "bash", ["-c", text]);
});

test("each configuration is what the command prints, and a client can start it", async () => {
  const walk = await beginWalk();
  const lines = ofLanguage("sh")
    .filter(printsConfig)
    .flatMap(({ text }) => text.trim().split("\n"));
  expect(lines).toHaveLength(6);
  const printed = lines.map((line) => run(walk, line.replace(/ > .*/, "")));
  const shown = ofLanguage("json").map(({ text }) => JSON.parse(text));
  expect(shown).toHaveLength(4);
  const asShown = printed.map((text) => JSON.parse(asOnPage(text, walk)));
  for (const config of asShown) expect(shown).toContainEqual(config);
  for (const config of shown) expect(asShown).toContainEqual(config);
  for (const text of new Set(printed)) {
    const [servers] = Object.values(JSON.parse(text) as Record<string, Record<string, { command: string; args: string[] }>>);
    const { command = "", args = [] } = servers?.["desk"] ?? {};
    if (args.includes("acp")) await talkAsEditor(walk, args.slice(1));
    else await callAsMcpClient(walk, command, args);
  }
});

test("all other commands run, and the program in code", async () => {
  const walk = await beginWalk();
  let received = 0;
  const receiver = createServer((request, response) => {
    received++;
    request.resume().on("end", () => response.setHeader("content-type", "application/json").end("{}"));
  });
  await new Promise<void>((done) => receiver.listen(0, "127.0.0.1", done));
  onTestFinished(() => void receiver.close());
  const endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
  const others = ofLanguage("sh").filter((block) => !isServer(block) && !printsConfig(block));
  expect(others.length).toBeGreaterThanOrEqual(3);
  for (const { text } of others) await runAside(walk, text.replace("http://localhost:4318", endpoint));
  expect(received).toBeGreaterThan(0);
  expect(readFileSync(join(walk.folder, "AGENTS.md"), "utf8")).toBe(readFileSync(join(repository, "docs/llms.txt"), "utf8"));
  const [code] = ofLanguage("ts");
  cpSync(join(walk.folder, "model.json"), join(walk.folder, "desk/model.json"));
  writeFileSync(join(walk.folder, "run.mjs"), code?.text ?? "");
  run(walk, `"${process.execPath}" run.mjs`);
});

/** Runs a script while this process goes on: it receives what the script sends. */
async function runAside({ folder, env }: Walk, script: string): Promise<void> {
  const { execFile } = await import("node:child_process");
  const failed = await new Promise<Error | null>((done) => {
    execFile("bash", ["-e", "-c", script], { cwd: folder, env }, (error, _, stderr) => done(error && new Error(stderr)));
  });
  expect({ script, failed }).toEqual({ script, failed: null });
}
