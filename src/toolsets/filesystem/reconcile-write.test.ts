import { expect, test } from "vitest";
import type { JsonObject } from "../../protocol/json.ts";
import { memoryHost } from "../../testing/memory-host.ts";
import { filesystem } from "./filesystem.ts";

const { signal } = new AbortController();
const caller = { name: "w", depth: 0, maxDepth: 1 };

/** A call of a file tool as a run prepares it, with what reconciles it later. */
async function prepare(tool: string, args: JsonObject) {
  const host = memoryHost({ files: { "/w/a.txt": "one" } });
  const scopes = await host.openScopes([{ name: ".", root: "/w", mode: "rw" }], { programFolder: "/program" });
  const seen = { worker: "w", readable: ["."], writable: ["."], networkEnabled: false };
  const config = { max_chars: 1000, max_entries: 10 } as never;
  const found = filesystem.tools(config, seen).find(({ name }) => name === tool);
  const preparation = await filesystem.prepare?.({ tool, args, config }, { scopes, signal, caller, networkEnabled: false });
  if (!preparation || !found) throw new Error("no such tool");
  // As a journal keeps it: without its payload.
  const { canonicalArgs, facts, recorded } = preparation;
  const kept = JSON.parse(JSON.stringify({ canonicalArgs, facts, recorded }));
  return {
    scopes,
    execute: () => found.execute(canonicalArgs, { scopes, signal } as never, preparation.payload),
    reconcile: () => found.reconcile?.(kept, { scopes, signal }),
  };
}

const calls: [string, JsonObject][] = [
  ["write_file", { path: "a.txt", content: "two" }],
  ["write_file", { path: "new.txt", content: "two" }],
  ["append_file", { path: "a.txt", content: " more" }],
  ["append_file", { path: "new.txt", content: "two" }],
  ["edit_file", { path: "a.txt", old_text: "one", new_text: "two" }],
];

test.each(calls)(
  "%s %o: not done before, done with its result after, and unknown once another has written",
  async (tool, args) => {
    const { scopes, execute, reconcile } = await prepare(tool, args);
    expect(await reconcile()).toBe("not-done");
    const result = await execute();
    expect(await reconcile()).toEqual({ done: result });
    await scopes.append(String(args["path"]), Buffer.from(" by another"));
    expect(await reconcile()).toBe("unknown");
  },
);

test("a tool that only reads has nothing to reconcile", async () => {
  expect((await prepare("read_file", { path: "a.txt" })).reconcile()).toBeUndefined();
});
