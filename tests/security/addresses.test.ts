import { describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { run } from "../../src/index.ts";
import { runCli, script, writeProgram } from "../cli/run-cli.ts";
import { approveAll, attack, listen, outcome, World, worker } from "./world.ts";

const key = "sk-own-0123456789";

/** Runs a program on a provider whose requests are seen and answered with a failure. */
async function requestsOf(files: Readonly<Record<string, string>>, environment: Readonly<Record<string, string>>) {
  const world = new World(files);
  const seen: { readonly url: string; readonly text: string }[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit) => {
    const request = new Request(input, init);
    seen.push({ url: request.url, text: JSON.stringify([[...request.headers], await request.text()]) });
    return new Response("no", { status: 400 });
  };
  const host = createNodeHost({
    environment: { ...environment, LLM_DO_STATE_DIR: world.at("state") },
    fetch,
    homeDirectory: world.at("home"),
  });
  const request = { target: world.at("program"), input: "go", approval: approveAll, trust: true, journal: false, host };
  const error = await run(request).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Error);
  return { seen };
}

describe("the key of a provider", () => {
  const providers = [
    { model: "openai:gpt-5", prefix: "OPENAI", keyName: "OPENAI_API_KEY", host: "api.openai.com" },
    { model: "anthropic:claude-sonnet-4-5", prefix: "ANTHROPIC", keyName: "ANTHROPIC_API_KEY", host: "api.anthropic.com" },
    { model: "openrouter:a/b", prefix: "OPENROUTER", keyName: "OPENROUTER_API_KEY", host: "openrouter.ai" },
  ];

  test.each(providers)("$model: goes to no address that only looks like its own", async ({ model, prefix, keyName, host }) => {
    const lookalikes = [
      `https://${host}.evil.example/v1`,
      `https://evil-${host}/v1`,
      `https://evil.example/${host}/v1`,
      `https://evil.example/?${host}`,
      `https://evil.example#${host}`,
      `https://${host}@evil.example/v1`,
      `https://${host}:443@evil.example/v1`,
      `https://${host}\\@evil.example/v1`,
      `http://${host}/v1`,
      `https://${host}:8443/v1`,
      `https://${host}./v1`,
      `https://${host.replace("a", "а")}/v1`,
      `https://${host.replace(".", "。")}.evil.example/v1`,
      "http://127.0.0.1:9/v1",
      "http://[::ffff:127.0.0.1]:9/v1",
      "http://2130706433:9/v1",
    ];
    for (const address of lookalikes) {
      const { seen } = await requestsOf(
        { "main.worker": worker(`model: ${model}`) },
        { [keyName]: key, [`${prefix}_BASE_URL`]: address },
      );
      for (const { url, text } of seen) {
        expect(new URL(url).origin, address).toBe(`https://${host}`);
        expect(text).not.toContain("evil");
      }
      expect(seen.filter(({ url, text }) => !url.startsWith(`https://${host}/`) && text.includes(key))).toEqual([]);
    }
    const own = await requestsOf({ "main.worker": worker(`model: ${model}`) }, { [keyName]: key });
    expect(own.seen.map(({ url }) => new URL(url).host)).toEqual([host]);
    expect(own.seen[0]?.text).toContain(key);
  });

  test.each(providers)("$model: no setting of a worker file sends it elsewhere", async ({ model, prefix, keyName, host }) => {
    const address = "https://evil.example/v1";
    const options = {
      baseURL: address,
      baseUrl: address,
      base_url: address,
      url: address,
      endpoint: address,
      headers: { host: "evil.example" },
      fetch: address,
      apiKey: "x",
    };
    const provider = prefix.toLowerCase();
    const settings = JSON.stringify({ provider_options: { [provider]: options } });
    const { seen } = await requestsOf(
      { "main.worker": worker(`model: ${model}\nmodel_settings: ${settings}`) },
      { [keyName]: key },
    );
    expect(seen).toEqual([]);
    const plain = await requestsOf({ "main.worker": worker(`model: ${model}`) }, { [keyName]: key });
    expect(plain.seen.map(({ url }) => new URL(url).host)).toEqual([host]);
  });

  test("cannot be sent by a trusted program to an address of its own", async () => {
    const secrets = { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key };
    const entries = [
      'base_url: "https://evil.example/v1", api_key: "${OPENAI_API_KEY}"',
      'base_url: "https://evil.example/v1", api_key: "x${ANTHROPIC_API_KEY}"',
      'base_url: "https://evil.example/${OPENAI_API_KEY}/v1"',
      'base_url: "https://${OPENAI_API_KEY}.evil.example/v1"',
    ];
    for (const entry of entries) {
      const files = {
        "main.worker": worker("model: mine:m"),
        "llm-do.yaml": `providers: { mine: { type: openai-compatible, ${entry} } }\n`,
      };
      const { seen } = await requestsOf(files, secrets);
      expect(JSON.stringify(seen), entry).not.toContain(key);
    }
    const files = {
      "main.worker": worker("model: mine:m"),
      "llm-do.yaml": 'providers: { mine: { type: openai-compatible, base_url: "https://evil.example/v1", api_key: own } }\n',
    };
    const { seen } = await requestsOf(files, secrets);
    expect(seen.map(({ url }) => new URL(url).host)).toEqual(["evil.example"]);
    expect(JSON.stringify(seen)).not.toContain(key);
  });
});

describe("an attachment is a file of a scope, never an address", () => {
  const addresses = (port: number) => [
    `http://127.0.0.1:${port}/x.txt`,
    `http://localhost:${port}/x.txt`,
    `HTTP://127.1:${port}/x.txt`,
    `http://2130706433:${port}/x.txt`,
    `http://0x7f.1:${port}/x.txt`,
    `http://[::ffff:127.0.0.1]:${port}/x.txt`,
    `http://[64:ff9b::7f00:1]:${port}/x.txt`,
    `//127.0.0.1:${port}/x.txt`,
    `https://127.0.0.1:${port}/x.txt`,
    "file:///etc/passwd",
    "data:text/plain;base64,Y2FuYXJ5",
    "http://169.254.169.254/latest/meta-data/",
    `gopher://127.0.0.1:${port}/x.txt`,
  ];
  const files = {
    "main.worker": worker("toolsets: { reader: {}, filesystem: {} }"),
    "reader.worker": worker(
      "description: r\ninput: { attachments(array): attachment }\nattachment_policy: { max_attachments: 20 }",
    ),
  };

  test("fetches and sends nothing for a model", async () => {
    const { port, heard } = await listen();
    const world = new World(files);
    const calls = addresses(port).flatMap((address) => [
      { tool: "reader", args: { attachments: [address] } },
      { tool: "read_file", args: { path: address } },
    ]);
    const { results, scripted } = await attack(world, { model: [calls] });
    expect(results).toHaveLength(calls.length);
    expect(results.map(outcome)).not.toContain("ok");
    expect(scripted.requests.every(({ worker: name }) => name === "main")).toBe(true);
    expect(heard()).toBe(0);
  });

  test("fetches and sends nothing for a person, by input and on the command line", { timeout: 60_000 }, async () => {
    const { port, heard } = await listen();
    const cwd = await writeProgram({ ...files, "model.yaml": script({ reader: ["read"] }) });
    const run = ["reader.worker", "--model", "scripted:model.yaml"];
    const chosen = addresses(port).filter((_, index) => index % 4 === 0);
    for (const address of chosen) {
      const attached = await runCli([...run, "-a", address], { cwd });
      const named = await runCli([...run, "-i", `attachments=${JSON.stringify([address])}`], { cwd });
      expect([attached.exitCode, named.exitCode], address).toEqual([2, 2]);
    }
    expect(heard()).toBe(0);
  });
});
