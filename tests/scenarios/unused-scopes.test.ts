import { describe, expect, test } from "vitest";
import { z } from "zod";
import { tool } from "../../src/index.ts";
import type { ScriptedRequest } from "../../src/testing/index.ts";
import { play, worker } from "./harness.ts";

const tools = {
  plain: tool({ input: z.object({}), run: (_, { scopes }) => [scopes.writable(), scopes.resolve("out/a.md").virtualPath] }),
  save: tool({
    input: z.object({}),
    run: async (_, { scopes }) => {
      await scopes.write("out/a.md", new TextEncoder().encode("text"), { expect: undefined });
      return "saved";
    },
  }),
};

const out = "sandbox: { paths: { out: { root: ./out, mode: rw } } }";
const credentials = "sandbox: { paths: { out: { root: ~/.local/state/llm-do/credentials, mode: rw } } }";

/** Calls each tool of each worker once, and counts how often the folder of a scope is opened. */
async function playTools(files: Readonly<Record<string, string>>) {
  let opened = 0;
  const model = ({ turn, tools: offered, toolResults }: ScriptedRequest) => {
    const calls = offered.filter(({ name }) => name in tools || name === "helper").map(({ name }) => ({ tool: name }));
    return turn === 1 ? { calls } : JSON.stringify(toolResults().map(({ result }) => result));
  };
  const played = await play({
    ...{ files, model, tools },
    approval: (host) => {
      host.setFaults((operation, path) => {
        if (operation === "openRoot" && /out|credentials/.test(path)) opened++;
        return operation === "openRoot" && path.endsWith("sealed") ? "EACCES" : undefined;
      });
      return { mode: "approve_all" };
    },
    request: { input: "go" },
  });
  return { ...played, opened };
}

describe("the scopes of a worker", () => {
  test("stay closed where its own tools use no file: a missing folder is not made", async () => {
    const { result, error, files, opened } = await playTools({
      "main.worker": worker(`toolsets: { plain: {}, helper: {} }\n${out}`),
      "helper.worker": worker(`description: h\ntoolsets: { plain: {} }\n${out}`),
    });
    expect(error).toBeUndefined();
    expect(result?.output).toContain('"value":[["out"],"out/a.md"]');
    expect([opened, Object.keys(files).filter((path) => path.startsWith("out"))]).toEqual([0, []]);
  });

  test("are opened when a tool of its own uses a file", async () => {
    const { result, files } = await playTools({ "main.worker": worker(`toolsets: { save: {} }\n${out}`) });
    expect(result?.output).toContain('"value":"saved"');
    expect(files["out/a.md"]).toBe("text");
  });

  test.each(["filesystem", "shell"])("are opened at the start of a call with tools of %s", async (toolset) => {
    const { error, opened } = await playTools({ "main.worker": worker(`toolsets: { ${toolset}: {}, plain: {} }\n${out}`) });
    expect(error).toBeUndefined();
    expect(opened).toBeGreaterThan(0);
  });

  test("are refused where a tool of its own uses a file: that call fails, and the run goes on", async () => {
    const sealed = "sandbox: { paths: { out: { root: ./sealed, mode: rw } } }";
    const { result, journal } = await playTools({ "main.worker": worker(`toolsets: { save: {}, plain: {} }\n${sealed}`) });
    const [saved, plain] = JSON.parse(String(result?.output));
    expect(saved).toMatchObject({ ok: false, error: { type: "io_error" } });
    expect(plain).toMatchObject({ ok: true });
    expect(journal.filter(({ type }) => type === "refusal")).toEqual([]);
  });

  test.each(["filesystem: {}, save: {}", "save: {}"])(
    "are refused at the start of a call where one is private, and the refusal is recorded: %s",
    async (toolsets) => {
      const { error, journal, model } = await playTools({ "main.worker": worker(`toolsets: { ${toolsets} }\n${credentials}`) });
      expect(String(error)).toContain("holds the keys and secrets of llm-do");
      expect(journal.filter(({ type }) => type === "refusal")).toMatchObject([{ key: "scopes" }]);
      expect(model.requests).toEqual([]);
    },
  );
});
