import { describe, expect, it } from "vitest";
import { createMemoryHost } from "../../src/host/memory-host.ts";
import { createTrustStore } from "../../src/host/trust-store.ts";

describe("the trust store", () => {
  const open = (files: Record<string, string> = {}) => {
    const host = createMemoryHost({ files: { "/work/program/main.worker": "---\n---\n", ...files } });
    const warnings: string[] = [];
    return { host, warnings, store: createTrustStore(host, (message) => warnings.push(message)) };
  };
  const path = "/home/user/.local/state/llm-do/trust.json";

  it("trusts nothing at first, and what was added from then on", async () => {
    const { host, store, warnings } = open();
    expect(await store.has("/work/program")).toBe(false);
    await store.add("/work/program");
    expect(await store.has("/work/program")).toBe(true);
    expect(await store.has("/work")).toBe(false);
    expect(await createTrustStore(host, () => undefined).has("/work/program")).toBe(true);
    expect(warnings).toEqual([]);
  });

  it("does not trust a folder that is gone, nor names that every object has", async () => {
    const { store } = open();
    await store.add("/work/program");
    expect(await store.has("/work/other")).toBe(false);
    expect(await store.has("/constructor")).toBe(false);
  });

  it.each(["", "{", "[]", '{"v":2,"folders":{}}', '{"v":1,"folders":["/work/program"]}', "null"])(
    "takes a damaged store (%j) for an empty one, says so, and writes it anew",
    async (text) => {
      const { store, warnings } = open({ [path]: text });
      expect(await store.has("/work/program")).toBe(false);
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(path);
      await store.add("/work/program");
      expect(await store.has("/work/program")).toBe(true);
    },
  );
});
