import { createMistral } from "@ai-sdk/mistral";
import { describe, expect, test } from "vitest";
import { compile, type RunEvent, type RunRequest, run, UntrustedProgram } from "../../src/index.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { readJournal, runsIn } from "../records.ts";
import { chat } from "./dialects.ts";
import { type Recorded, sendJson, startServer } from "./local-server.ts";

const key = "key-of-my-gateway";

interface Machine {
  readonly url: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly manifest?: string;
}

function createHost({ url, environment = { MY_KEY: key, OPENAI_API_KEY: "sk-openai-own" }, manifest }: Machine) {
  const declared = `providers:\n  mine: { type: openai-compatible, base_url: "${url}/v1", api_key: "\${MY_KEY}" }\n`;
  return memoryHost({
    environment,
    fetch: globalThis.fetch,
    files: {
      "/program/main.worker": "---\nmodel: mine:org/model:7b\n---\nBe kind.\n",
      "/program/llm-do.yaml": manifest ?? declared,
    },
  });
}

type Answer = (request: Recorded) => { readonly body: unknown; readonly status?: number };

/** Runs a program whose manifest declares a provider, against a server that records what it is sent. */
async function ask(answer: Answer, more: Omit<Machine, "url"> & { readonly request?: Partial<RunRequest> } = {}) {
  await using server = await startServer((response, recorded) => {
    const { body, status = 200 } = answer(recorded);
    sendJson(response, body, status);
  });
  const host = createHost({ url: server.url, ...more });
  const events: RunEvent[] = [];
  const settled = await run({
    target: "/program",
    input: "hello",
    approval: { mode: "reject_all" },
    trust: true,
    host,
    onEvent: (event) => events.push(event),
    ...more.request,
  }).then(
    ({ output }) => ({ output, error: undefined }),
    (error: unknown) => ({ output: undefined, error }),
  );
  return { ...settled, requests: server.requests, events, host, url: server.url };
}

const hello: Answer = ({ body }) => ({ body: chat.body({ text: `${body.model} got ${body.messages.at(-1).content}` }) });

describe("a provider of the manifest", () => {
  test("gets its own options, and those of no other", async () => {
    const set = ["mine.top_k=4", "openai.serviceTier=flex"].map((option) => `model_settings.provider_options.${option}`);
    const { requests, events } = await ask(hello, { request: { set } });
    const [{ body } = { body: {} }] = requests;
    expect(Object.keys(body).sort()).toEqual(["messages", "model", "top_k"]);
    expect(events.filter(({ type }) => type === "warning")).toEqual([]);
  });

  test("is reached at its address, with its key, and with no other", async () => {
    const { output, requests } = await ask(hello);
    expect(output).toBe("org/model:7b got hello");
    expect(requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([
      ["/v1/chat/completions", `Bearer ${key}`],
    ]);
    expect(JSON.stringify(requests)).not.toContain("sk-openai-own");
  });

  test("without a key sends none, whatever the environment holds", async () => {
    await using server = await startServer((response, recorded) => sendJson(response, hello(recorded).body));
    const manifest = `providers: { mine: { type: openai-compatible, base_url: "${server.url}" } }`;
    const environment = {
      OPENAI_COMPATIBLE_API_KEY: "sk-other",
      OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:1",
      _BASE_URL: "x",
    };
    const host = createHost({ url: server.url, manifest, environment });
    await run({ target: "/program", input: "hello", approval: { mode: "reject_all" }, trust: true, host });
    expect(server.requests.map(({ path, headers }) => [path, headers.authorization])).toEqual([["/chat/completions", undefined]]);
  });

  test("names the variable of a rejected key, and never shows its value", async () => {
    const { error, events, host } = await ask(() => ({ body: chat.error(`bad key ${key}`), status: 401 }));
    expect(error).toMatchObject({ name: "RunError", code: "authentication" });
    expect(String(error)).toContain("MY_KEY");
    const [id = ""] = await host.files.names(runsIn("/program"));
    const { entries } = await readJournal(host, `${runsIn("/program")}/${id}`);
    expect(`${error} ${JSON.stringify([events, entries])}`).not.toContain(key);
  });

  test("takes effect only with trust, and what is asked names the address", async () => {
    const { error, requests, url } = await ask(hello, { request: { trust: false } });
    expect(error).toBeInstanceOf(UntrustedProgram);
    expect(error).toMatchObject({ files: [], addresses: [`${url}/v1 (the provider mine, with MY_KEY)`] });
    expect(requests).toEqual([]);
  });

  test("that no worker uses needs neither trust nor its variables", async () => {
    const host = createHost({ url: "http://127.0.0.1:8000", environment: {} });
    const compiled = await compile({ target: "/program", host, toRun: true, set: ["model=ollama:llama3"] });
    expect(compiled.diagnostics.map(({ code }) => code)).toEqual(["manifest-entry-unused"]);
    expect(compiled.untrusted).toBeUndefined();
    expect(compiled.program?.servers).toEqual([]);
  });

  test("belongs to the ceiling: another address is another digest", async () => {
    const outlineOf = async (url: string) => (await compile({ target: "/program", host: createHost({ url }) })).outline;
    const outline = await outlineOf("http://127.0.0.1:8000");
    expect(outline?.ceiling.models).toEqual(["mine:org/model:7b at http://127.0.0.1:8000/v1"]);
    expect(outline?.workers[0]?.model).toMatchObject({ id: "mine:org/model:7b", address: "http://127.0.0.1:8000/v1" });
    expect((await outlineOf("http://127.0.0.1:9000"))?.ceilingDigest).not.toBe(outline?.ceilingDigest);
  });

  test("is known to its own run alone", async () => {
    await ask(hello);
    const { diagnostics } = await compile({ target: "/program", host: createHost({ url: "", manifest: "name: other" }) });
    expect(diagnostics.map(({ code }) => code)).toEqual(["model-id"]);
  });
});

describe("a package of the manifest", () => {
  const declared = (url: string, more = "") =>
    `providers:\n  mine: { package: "@ai-sdk/mistral", export: createMistral, base_url: "${url}/v1", api_key: "\${MY_KEY}"${more} }\n`;

  function createPackageHost(manifest: string, exports: Record<string, unknown> = { createMistral }) {
    const imported: string[] = [];
    const host = memoryHost({
      environment: { MY_KEY: key, TEAM: "blue-team", MISTRAL_API_KEY: "sk-mistral-own" },
      fetch: globalThis.fetch,
      files: {
        "/program/main.worker": "---\nmodel: mine:small\n---\nBe kind.\n",
        "/program/llm-do.yaml": manifest,
        "/program/package.json": '{ "dependencies": { "@ai-sdk/mistral": "4" } }',
        "/program/node_modules/@ai-sdk/mistral/package.json":
          '{ "name": "@ai-sdk/mistral", "version": "4.0.0", "exports": "./index.js" }',
        "/program/node_modules/@ai-sdk/mistral/index.js": "export const createMistral = 0, notes = 0;\n",
      },
      modules: { "/program/node_modules/@ai-sdk/mistral/index.js": exports },
    });
    const importModule: typeof host.importModule = (path, texts) => {
      imported.push(path);
      return host.importModule(path, texts);
    };
    return { host: { ...host, importModule }, imported };
  }

  const request = { target: "/program", input: "hello", approval: { mode: "reject_all" } } as const;

  test("is created with its options, its declared key and address, and no other key", async () => {
    await using server = await startServer((response, recorded) => sendJson(response, hello(recorded).body));
    const options = ', options: { headers: { "x-team": "${TEAM}" } }';
    const { host } = createPackageHost(declared(server.url, options));
    const set = ["model_settings.provider_options.mine.safePrompt=true"];
    const { output } = await run({ ...request, host, trust: true, set });
    expect(output).toContain("small got");
    const [{ path, headers, body } = { path: "", headers: {}, body: {} }] = server.requests;
    expect([path, headers.authorization, headers["x-team"], body.safe_prompt]).toEqual([
      "/v1/chat/completions",
      `Bearer ${key}`,
      "blue-team",
      true,
    ]);
    const journals = Object.values(host.snapshot(runsIn("/program"))).join();
    expect(`${JSON.stringify(server.requests)}${journals}`).not.toContain("sk-mistral-own");
    expect(journals).not.toMatch(/blue-team|key-of-my-gateway/);
  });

  test("without a declared key gets none of the environment", async () => {
    process.env["MISTRAL_API_KEY"] = "sk-mistral-of-the-process";
    try {
      await using server = await startServer((response, recorded) => sendJson(response, hello(recorded).body));
      const manifest = `providers: { mine: { package: "@ai-sdk/mistral", export: createMistral, base_url: "${server.url}" } }`;
      await run({ ...request, host: createPackageHost(manifest).host, trust: true });
      expect(server.requests.map(({ headers }) => headers.authorization?.trim())).toEqual(["Bearer"]);
    } finally {
      delete process.env["MISTRAL_API_KEY"];
    }
  });

  test("is code: nothing is imported without trust, and the question names package, address and key", async () => {
    const { host, imported } = createPackageHost(declared("http://127.0.0.1:8000", ', options: { organization: "${TEAM}" }'));
    const compiled = await compile({ target: "/program", host, toRun: true });
    expect(compiled.diagnostics).toEqual([]);
    expect(compiled.program).toBeUndefined();
    expect(compiled.untrusted?.reasons).toEqual([
      "runs code: node_modules/@ai-sdk/mistral/index.js",
      "has its models reached at http://127.0.0.1:8000/v1, by @ai-sdk/mistral:createMistral (the provider mine, with MY_KEY)",
      "takes variables of the environment: MY_KEY, TEAM",
      "loads packages: @ai-sdk/mistral 4.0.0 (node_modules/@ai-sdk/mistral)",
    ]);
    expect(compiled.reach?.code).toEqual(["node_modules/@ai-sdk/mistral/index.js"]);
    await expect(run({ ...request, host })).rejects.toBeInstanceOf(UntrustedProgram);
    expect(imported).toEqual([]);
  });

  test.each([
    ["an export that is none", declared("http://x").replace("createMistral", "createMistrel"), "export-missing"],
    ["an export that creates nothing", declared("http://x").replace("createMistral", "notes"), "invalid-value"],
    ["a package that is not allowed", declared("http://x").replace("@ai-sdk/mistral", "left-pad"), "module-not-allowed"],
    ["a key among the options", declared("http://x", ", options: { apiKey: x }"), "invalid-value"],
    [
      "the key of another provider among the options",
      declared("http://x", ', options: { organization: "${MISTRAL_API_KEY}" }'),
      "provider-key",
    ],
    ["both a type and a package", declared("http://x", ", type: openai-compatible"), "unknown-key"],
    ["no export", declared("http://x").replace(" export: createMistral,", ""), "missing-key"],
  ])("%s is a mistake of the manifest", async (_, manifest, code) => {
    const { host } = createPackageHost(manifest, { createMistral, notes: 0 });
    const { diagnostics } = await compile({ target: "/program", host, trust: true });
    expect(diagnostics.map((one) => [one.code, one.span?.source.name.split("/").at(-1)])).toContainEqual([code, "llm-do.yaml"]);
  });

  test("has the options of the provider that llm-do knows it by, and no others", async () => {
    const { host } = createPackageHost(declared("http://127.0.0.1:8000"));
    const set = ["model_settings.provider_options.mine.safePromt=true"];
    const { diagnostics } = await compile({ target: "/program", host, trust: true, set });
    expect(diagnostics).toMatchObject([{ code: "provider-option", message: expect.stringContaining("safePromt") }]);
  });

  test("whose function returns no provider fails the run before a request", async () => {
    const { host } = createPackageHost(declared("http://127.0.0.1:8000"), { createMistral: () => "nothing" });
    await expect(run({ ...request, host, trust: true })).rejects.toThrow(
      "mine:small cannot be created: the export of its package",
    );
  });
});
