import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { ScriptedCall } from "../../src/testing/index.ts";
import { attack, World, worker } from "../security/world.ts";

const program = worker(`
sandbox: { paths: { s: { root: ./in, mode: rw, write_approval: false } } }
toolsets: { filesystem: {}, shell: { rules: [{ pattern: "*", writes: [s], approval_required: false }] } }
`);

const shell = (command: string): ScriptedCall => ({ tool: "shell", args: { command, writes: ["s"] } });

describe.skipIf(process.platform === "win32")("commands and file tools of one turn", () => {
  test("run in the order of the request", async () => {
    const world = new World({ "main.worker": program });
    const calls = [
      shell("mkdir d"),
      shell("touch d/a d/b"),
      { tool: "write_file", args: { path: "s/d/c", content: "one\n" } },
      shell("sed -i s/one/two/ d/c"),
      { tool: "append_file", args: { path: "s/d/c", content: "three\n" } },
      { tool: "read_file", args: { path: "s/d/c" } },
      shell("rm d/a"),
      { tool: "list_files", args: { path: "s" } },
      { tool: "write_file", args: { path: "s/d/a", content: "again" } },
    ];
    const { results, error } = await attack(world, { model: [calls] });
    expect(error).toBeUndefined();
    const values = results.map(({ result }) => (result.ok ? result.value : result.error));
    const done = { exit_code: 0 };
    expect(values).toMatchObject([
      done,
      done,
      {},
      done,
      {},
      { content: "two\nthree\n" },
      done,
      { files: ["s/d/b", "s/d/c"] },
      { path: "s/d/a" },
    ]);
    expect(existsSync(world.at("program/in/d/a"))).toBe(true);
  });
});
