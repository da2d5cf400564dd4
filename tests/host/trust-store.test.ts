import { describe, expect, it } from "vitest";
import { createTrustStore } from "../../src/host/own-files/trust-store.ts";
import { defaultAttachmentPolicy } from "../../src/program/program.ts";
import type { Reach } from "../../src/protocol/reach.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";

const bounds = { limits: {}, attachments: defaultAttachmentPolicy, isolationRequired: false };
const reach: Reach = {
  code: ["tools.ts"],
  packages: [],
  variables: [],
  addresses: [],
  restrictions: [],
  limits: {},
  workers: {
    main: {
      models: [],
      scopes: [],
      references: ["shout"],
      tools: { "shout/shout": "asks" },
      network: false,
      rules: [],
      ...bounds,
    },
  },
};

describe("the trust store", () => {
  const open = (files: Record<string, string> = {}) => {
    const host = memoryHost({ files: { "/work/program/main.worker": "---\n---\n", ...files } });
    const warnings: string[] = [];
    return { host, warnings, store: createTrustStore(host, (message) => warnings.push(message)) };
  };
  const path = "/home/user/.local/state/llm-do/trust.json";

  it("trusts nothing before it is added", async () => {
    const { host, store, warnings } = open();
    expect(await store.get("/work/program")).toBeUndefined();
    await store.add("/work/program", reach);
    expect(await store.get("/work/program")).toMatchObject({ folder: "/work/program", reach });
    expect(await store.get("/work")).toBeUndefined();
    expect(await createTrustStore(host, () => undefined).get("/work/program")).toMatchObject({ reach });
    expect(warnings).toEqual([]);
  });

  it("trusts neither missing folders nor names of Object.prototype", async () => {
    const { store } = open();
    await store.add("/work/program", reach);
    expect(await store.get("/work/other")).toBeUndefined();
    expect(await store.get("/constructor")).toBeUndefined();
    expect(await store.revoke("constructor")).toBe(false);
  });

  it.each(["", "{", "[]", '{"v":3,"folders":{}}', '{"v":1,"folders":["/work/program"]}', "null"])(
    "takes a damaged store (%j) for an empty one, says so, and writes it anew",
    async (text) => {
      const { store, warnings } = open({ [path]: text });
      expect(await store.get("/work/program")).toBeUndefined();
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(path);
      await store.add("/work/program", reach);
      expect(await store.get("/work/program")).toMatchObject({ reach });
    },
  );

  it("lists and revokes, missing folders included", async () => {
    const { host, store } = open({ "/work/other/main.worker": "---\n---\n" });
    await store.add("/work/program", reach);
    await store.add("/work/other", reach);
    expect((await store.list()).map(({ folder }) => folder)).toEqual(["/work/other", "/work/program"]);
    await host.files.remove("/work/program");
    expect(await store.revoke("/work/program")).toBe(true);
    expect(await store.revoke("/work/program")).toBe(false);
    expect((await store.list()).map(({ folder }) => folder)).toEqual(["/work/other"]);
  });

  it("reads folders of version 1 without a reach", async () => {
    const { store, warnings } = open({ [path]: '{"v":1,"folders":{"/work/program":"2026-01-01T00:00:00.000Z"}}' });
    expect(await store.get("/work/program")).toEqual({
      folder: "/work/program",
      trustedAt: "2026-01-01T00:00:00.000Z",
      reach: undefined,
    });
    expect(warnings).toEqual([]);
  });

  it.each([
    ["no reach", { trustedAt: "t", reach: 1 }],
    ["a worker that is none", { trustedAt: "t", reach: { code: [], workers: { main: { tools: {} } } } }],
  ])("takes %s for trust in nothing that is known", async (_, entry) => {
    const { store } = open({ [path]: JSON.stringify({ v: 2, folders: { "/work/program": entry } }) });
    expect(await store.get("/work/program")).toMatchObject({ reach: undefined });
  });
});
