import { describe, expect, test } from "vitest";
import { type CreateWorkerOptions, createWorker, RunError, type WorkerSpec } from "../../src/index.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { MemoryHost } from "../../src/testing/memory-host.ts";
import { renderExplanation } from "../../src/ui/explain/render-explanation.ts";
import { compileOn, createMachine, worker } from "./machine.ts";

const path = "/work/workers/generated/echo/worker.worker";
const echo: WorkerSpec = { name: "echo", instructions: "Say it again." };

async function compileIn(host: MemoryHost) {
  const { program, outline, shown } = await compileOn(host, { trust: true });
  if (!program || !outline) throw new Error(shown.join("\n"));
  return { program, outline, shown, echo: program.workers.get("workers/generated/echo/worker") };
}

/** Creates `echo`, which `main` calls if it is compiled again. */
async function create(main: string, spec: JsonObject = {}, more: Partial<CreateWorkerOptions & { manifest: string }> = {}) {
  const { manifest, ...options } = more;
  const files = {
    "main.worker": worker(main),
    "other.worker": worker("description: other\ntoolsets: { filesystem: {} }"),
    ...(manifest === undefined ? {} : { "llm-do.yaml": manifest }),
  };
  const host = createMachine({ files });
  const { program } = await compileIn(host);
  const made = await createWorker(program, { ...echo, ...spec }, options).catch((thrown: unknown) => thrown as RunError);
  host.put("/work/main.worker", worker(`${main.replace(/\}$/, ", echo: {} }")}`));
  return { host, program, made };
}

describe("createWorker", () => {
  test("gives a worker that the next compilation finds, and `explain` names its creator", async () => {
    const { host, made } = await create("toolsets: { filesystem: {} }", { toolsets: { filesystem: {} }, sandbox: {} });
    expect(made).toMatchObject({ worker: "echo", file: "workers/generated/echo/worker.worker" });
    const { outline, echo: found, shown } = await compileIn(host);
    expect(shown).toEqual([]);
    expect(found?.toolsets.map(({ reference }) => reference)).toEqual(["filesystem"]);
    expect(outline.workers.find(({ name }) => name === "echo")?.createdBy).toEqual({ name: "main", id: "main" });
    expect(outline.workers.find(({ name }) => name === "main")?.createdBy).toBeUndefined();
    expect(renderExplanation(outline, { columns: 100 })).toMatch(/echo: .*\(created by main\)/);
  });

  test("refuses more than the creator has, and says what can be had", async () => {
    const { host, made } = await create("toolsets: { other: {} }", { toolsets: { filesystem: {} } });
    expect(made).toBeInstanceOf(RunError);
    expect(made).toMatchObject({
      code: "configuration",
      message: expect.stringContaining("`toolsets`: `filesystem` is not the creator's; to be had: `other`"),
    });
    expect(Object.keys(host.snapshot("/work"))).not.toContain(path);
  });

  test("takes another creator, and defaults that hold as far as it has them", async () => {
    const defaults = { toolsets: { filesystem: {}, shell: {} }, sandbox: {}, limits: { turns: 3 } };
    const { made } = await create("toolsets: { other: {} }", {}, { creator: "other", defaults });
    expect(made).toMatchObject({
      definition:
        "---\ndescription: Say it again.\nsandbox: {}\ntoolsets:\n  filesystem: {}\nlimits:\n  turns: 3\n---\nSay it again.\n",
    });
    const unknown = await create("toolsets: { other: {} }", {}, { creator: "nobody" });
    expect(unknown.made).toMatchObject({ message: "`creator` has to name one worker of the program, not `nobody`" });
  });

  test("replaces a created worker by force alone", async () => {
    const { program, made } = await create("toolsets: { other: {} }");
    expect(made).not.toBeInstanceOf(Error);
    await expect(createWorker(program, echo)).rejects.toThrow("there is a worker `echo` already");
    const again = { ...echo, instructions: "Another." };
    expect(await createWorker(program, again, { force: true })).toMatchObject({
      definition: expect.stringMatching(/Another\.\n$/),
    });
  });

  test("refuses what is no compiled program, and options that it does not have", async () => {
    const { program } = await create("toolsets: { other: {} }");
    await expect(createWorker({ ...program }, echo)).rejects.toThrow("`program` has to be what `compile` gave");
    await expect(createWorker(program, echo, { forced: true } as never)).rejects.toThrow("`createWorker.forced` is no option");
  });
});

test.each([
  [
    "model_settings: { timeout: 60 }",
    { first_byte_timeout: 61 },
    "`model_settings.first_byte_timeout`: 61 is too much; at most 60",
  ],
  ["model_settings: { timeout: 60 }", { connect_timeout: 11 }, "`model_settings.connect_timeout`: 11 is too much; at most 10"],
  ["model_settings: { idle_timeout: 5 }", { idle_timeout: 6 }, "`model_settings.idle_timeout`: 6 is too much; at most 5"],
  ["debug: false", { timeout: 1801 }, "`model_settings.timeout`: 1801 is too much; at most 1800"],
])("with %s, %j is more patience than a creator has", async (own, model_settings, message) => {
  const { made } = await create(`${own}\ntoolsets: { other: {} }`, { model_settings });
  expect(made).toMatchObject({ message: expect.stringContaining(message) });
});

test("a created worker is as patient as its creator, or less", async () => {
  const own = "model_settings: { timeout: 60, connect_timeout: 3 }\ntoolsets: { other: {} }";
  const { host } = await create(own, { model_settings: { idle_timeout: 60, connect_timeout: 2 } });
  const { echo: found } = await compileIn(host);
  expect(found?.modelSettings).toEqual({ timeout: 60, idle_timeout: 60, connect_timeout: 2 });
});

describe("the login of a created worker", () => {
  test.each([
    ["auth: off", "auth: auto", "off"],
    ["auth: auto", "", "auto"],
    ["", "auth: auto", "auto"],
    ["", "", "off"],
  ])("is that of its creator: %j in the file, %j in the manifest", async (own, shared, expected) => {
    const { host } = await create(`${own}\ntoolsets: { other: {} }`, {}, { manifest: `name: x\n${shared}` });
    expect((await compileIn(host)).echo?.auth).toBe(expected);
  });

  test("is no wish", async () => {
    const { made } = await create("toolsets: { other: {} }", { auth: "auto" });
    expect(made).toMatchObject({ message: expect.stringContaining("a created worker has no `auth`") });
  });

  test("is not taken from a file without a record", async () => {
    const { host } = await create("toolsets: { other: {} }");
    host.put(path, worker("description: planted\nauth: auto"));
    const { echo: found, shown } = await compileIn(host);
    expect(found?.auth).toBe("off");
    expect(shown).toEqual([expect.stringMatching(/^generated-capability .*worker\.worker:3:7 warning$/)]);
  });
});

test.each([
  ["toolsets: { dynamic_workers: {} }", ["gate"]],
  ["toolsets: { filesystem: {} }", []],
])("a provider that only created workers use is part of a program that creates some: %s", async (main, expected) => {
  const manifest = `
providers: { gate: { type: openai-compatible, base_url: "https://gate.example.org/v1" } }
generated_workers: { model: "gate:small" }`;
  const host = createMachine({ files: { "main.worker": worker(main), "llm-do.yaml": manifest } });
  expect((await compileIn(host)).program.servers.map(({ name }) => name)).toEqual(expected);
});
