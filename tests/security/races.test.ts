import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { ApprovalRequest } from "../../src/index.ts";
import { seed } from "../host/seeded.ts";
import { attack, canary, outcome, untouched, World, worker } from "./world.ts";

const swappers: ChildProcess[] = [];
afterEach(() => {
  for (const child of swappers.splice(0)) child.kill("SIGKILL");
});

async function startSwapping(path: string, outside: string): Promise<ChildProcess> {
  const child = fork(join(import.meta.dirname, "fixtures/swap-any.js"), [path, outside, seed], { execArgv: [], silent: true });
  swappers.push(child);
  await new Promise((resolve) => child.once("message", resolve));
  return child;
}

const free = worker(`
limits: { turns: 1000 }
sandbox: { paths: { s: { root: ./in, mode: rw, write_approval: false } } }
toolsets: { filesystem: {} }
`);

/** All tools at once, aimed at a file, and where its folder is what changes, at new ones beside it. */
function round(file: string, n: number, folder?: string) {
  const path = `s/${file}`;
  const text = "inside";
  const onFile = [
    { tool: "read_file", args: { path } },
    { tool: "edit_file", args: { path, old_text: "canary", new_text: "evil" } },
    { tool: "edit_file", args: { path, old_text: text, new_text: text } },
    { tool: "append_file", args: { path, content: "" } },
    { tool: "write_file", args: { path, content: text } },
    // A call of its own in each round: a model that only repeats itself is stopped.
    { tool: "search_files", args: { path: folder === undefined || n % 10 > 0 ? path : "s", regex: `.|${n}` } },
  ];
  if (folder === undefined) return onFile;
  return [
    ...onFile,
    { tool: "read_file", args: { path } },
    { tool: "list_files", args: { path: `s/${folder}` } },
    { tool: "write_file", args: { path: `s/${folder}/new-${n % 5}`, content: text } },
    { tool: "append_file", args: { path: `s/${folder}/more`, content: text } },
    { tool: "write_file", args: { path: `s/${folder}/deep-${n % 5}/new`, content: text } },
  ];
}

describe.runIf(process.platform === "linux")("a process that swaps paths as fast as it can", () => {
  test("replaces a folder by a link, under thousands of calls of all file tools", { timeout: 180_000 }, async () => {
    const world = new World({ "main.worker": free, "in/folder/file": "inside" });
    const swapper = await startSwapping(world.at("program/in/folder"), world.at("outside"));
    const { results, error } = await attack(world, {
      model: Array.from({ length: 200 }, (_, n) => round("folder/file", n, "folder")),
    });
    expect([error, swapper.exitCode]).toEqual([undefined, null]);
    expect(results).toHaveLength(2200);
    expect(JSON.stringify(results)).not.toContain(canary);
    expect(world.outside()).toEqual(untouched);
    const outcomes = Object.groupBy(results, outcome);
    // The race was one: the same calls met the folder, and met the link.
    expect(outcomes["ok"]?.length).toBeGreaterThan(100);
    expect(outcomes["path_outside_scope"]?.length).toBeGreaterThan(100);
  });

  test("replaces a file by a link, under thousands of reads, writes and edits", { timeout: 180_000 }, async () => {
    const world = new World({ "main.worker": free, "in/file": "inside" });
    const swapper = await startSwapping(world.at("program/in/file"), world.at("outside/file"));
    const { results, error } = await attack(world, { model: Array.from({ length: 300 }, (_, n) => round("file", n)) });
    expect([error, swapper.exitCode]).toEqual([undefined, null]);
    expect(results).toHaveLength(1800);
    expect(JSON.stringify(results)).not.toContain(canary);
    expect(world.outside()).toEqual(untouched);
    const outcomes = Object.groupBy(results, outcome);
    expect(outcomes["ok"]?.length).toBeGreaterThan(5);
    expect(outcomes["path_outside_scope"]?.length).toBeGreaterThan(5);
  });
});

describe("a swap while a question is open", () => {
  const asking = free.replace("write_approval: false", "write_approval: true");
  const swaps = {
    "the folder for a link out": (world: World) => {
      renameSync(world.at("program/in/folder"), world.at("program/in/old"));
      symlinkSync(world.at("outside"), world.at("program/in/folder"));
    },
    "the file for a link out": (world: World) => {
      renameSync(world.at("program/in/folder/file"), world.at("program/in/old"));
      symlinkSync(world.at("outside/file"), world.at("program/in/folder/file"));
    },
    "the file for another one": (world: World) => {
      renameSync(world.at("program/in/other"), world.at("program/in/folder/file"));
    },
    "the folder for another one": (world: World) => {
      renameSync(world.at("program/in/folder"), world.at("program/in/old"));
      mkdirSync(world.at("program/in/folder"));
      renameSync(world.at("program/in/other"), world.at("program/in/folder/file"));
    },
    "the scope's root for another one": (world: World) => {
      renameSync(world.at("program/in"), world.at("program/was"));
      mkdirSync(world.at("program/in/folder"), { recursive: true });
      renameSync(world.at("program/was/other"), world.at("program/in/folder/file"));
    },
    "the scope's root for a link out": (world: World) => {
      renameSync(world.at("program/in"), world.at("program/was"));
      mkdirSync(world.at("outside/folder"));
      symlinkSync(world.at("outside"), world.at("program/in"));
    },
  };
  const calls = [
    { tool: "write_file", args: { path: "s/folder/file", content: "evil" } },
    { tool: "append_file", args: { path: "s/folder/file", content: "evil" } },
    { tool: "edit_file", args: { path: "s/folder/file", old_text: "inside", new_text: "evil" } },
  ];
  // To append is about a path and not about what stands there: another file of that path gets the text that was approved.
  const goesOn = (name: string, tool: string) => tool === "append_file" && /^the f.* for another one$/.test(name);
  const all = Object.entries(swaps).flatMap(([name, swap]) => calls.map((call) => [name, call.tool, swap, call] as const));
  const cases = all.filter(([name, tool]) => !goesOn(name, tool));

  test.each(cases)("%s: an approved %s changes nothing", async (name, _tool, swap, call) => {
    const world = new World({ "main.worker": asking, "in/folder/file": "inside", "in/other": "inside" });
    const questions: ApprovalRequest[] = [];
    const approver = async (request: ApprovalRequest) => {
      questions.push(request);
      swap(world);
      return { type: "approve" } as const;
    };
    const { results } = await attack(world, { model: [[call]], approval: { mode: "prompt", approver } });
    expect(questions).toHaveLength(1);
    expect(results.map(outcome)).not.toContain("ok");
    if (name.includes("root")) expect(results.map(outcome)).toEqual(["changed"]);
    expect(world.outside()).toEqual(untouched);
    for (const path of world.files("program").filter((path) => /^(?:in|was)\//.test(path)))
      expect(world.read(`program/${path}`)).toBe("inside");
    expect(world.files("outside")).toEqual(["file"]);
  });

  test.each(all.filter(([name, tool]) => goesOn(name, tool)))(
    "%s: an approved %s appends to it",
    async (_name, _tool, swap, call) => {
      const world = new World({ "main.worker": asking, "in/folder/file": "inside", "in/other": "other" });
      const approver = async () => {
        swap(world);
        return { type: "approve" } as const;
      };
      const { results } = await attack(world, { model: [[call]], approval: { mode: "prompt", approver } });
      expect(results.map(outcome)).toEqual(["ok"]);
      expect(world.read("program/in/folder/file")).toBe("otherevil");
    },
  );

  test("runs no approved command in a replaced root, nor in the moved one", async () => {
    const world = new World({
      "main.worker": worker(
        "sandbox: { paths: { s: { root: ./in, mode: rw } } }\ntoolsets: { shell: { rules: [{ pattern: touch }] } }",
      ),
      "in/folder/file": "inside",
      "in/other": "inside",
    });
    const approver = async () => {
      swaps["the scope's root for another one"](world);
      return { type: "approve" } as const;
    };
    const calls = [{ tool: "shell", args: { command: "touch made" } }];
    const { results } = await attack(world, { model: [calls], approval: { mode: "prompt", approver } });
    expect(results.map(outcome)).toEqual(["changed"]);
    expect(world.files("program").filter((name) => name.includes("made"))).toEqual([]);
  });
});
