import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createNodeHost } from "../../../src/host/node-host.ts";
import { createTrustStore } from "../../../src/host/own-files/trust-store.ts";
import type { RunEvent } from "../../../src/index.ts";
import type { Reach } from "../../../src/protocol/reach.ts";
import type { ScriptedCall } from "../../../src/testing/index.ts";
import { noWall } from "../../host/command-bench.ts";
import { attack, canary, outcome, untouched, World, worker } from "../world.ts";

const free = (more = "") =>
  worker(`
${more}
sandbox: { paths: { s: { root: ./in, mode: rw, write_approval: false }, deep: { root: ./in/deep, mode: rw, write_approval: false } } }
toolsets: { filesystem: {}, child: { _approval_config: { child: { pre_approved: true } } } }
`);
const child = worker(`
description: d
input: { task: string, file?: attachment }
sandbox: { paths: { mine: { root: ./in, mode: rw, write_approval: false } } }
toolsets: { filesystem: {}, shell: { rules: [{ pattern: "*", approval_required: false }], default: { approval_required: false } } }
`);

const write = (path: string, content: string): ScriptedCall => ({ tool: "write_file", args: { path, content } });
const append = (path: string, content: string): ScriptedCall => ({ tool: "append_file", args: { path, content } });
const edit = (path: string, old_text: string, new_text: string): ScriptedCall => ({
  tool: "edit_file",
  args: { path, old_text, new_text },
});
const read = (path: string): ScriptedCall => ({ tool: "read_file", args: { path } });
const numbers = (count: number) => Array.from({ length: count }, (_, n) => String(n));

interface Order {
  readonly title: string;
  readonly calls: readonly ScriptedCall[];
  readonly file?: string;
  readonly holds: string;
}

describe("calls of one turn on one target run in the order of the request", () => {
  const rows: readonly Order[] = [
    { title: "fifty appends", calls: numbers(50).map((n) => append("s/f", n)), holds: numbers(50).join("") },
    {
      title: "a write, an append, a write, an append",
      calls: [write("s/f", "a"), append("s/f", "b"), write("s/f", "c"), append("s/f", "d")],
      holds: "cd",
    },
    {
      title: "edits of which each needs the one before",
      calls: [write("s/f", "0"), ...numbers(9).map((n) => edit("s/f", n, String(Number(n) + 1)))],
      holds: "9",
    },
    {
      title: "a scope in a scope, by both names",
      calls: [write("s/deep/f", "a"), append("deep/f", "b"), append("s/deep/f", "c"), append("deep:f", "d")],
      file: "deep/f",
      holds: "abcd",
    },
    {
      title: "spellings of one path",
      calls: [write("s/f", "a"), append("./s/f", "b"), append("s/./f", "c"), append("s:f", "e")],
      holds: "abce",
    },
    {
      title: "folders that are made on the way",
      calls: [append("s/a/b/f", "1"), append("s/a/b/f", "2"), append("s:a/b/f", "3")],
      file: "a/b/f",
      holds: "123",
    },
    {
      title: "a large write before a small one",
      calls: [write("s/f", "x".repeat(3_000_000)), write("s/f", "small")],
      holds: "small",
    },
    {
      title: "calls that fail between others",
      calls: [write("s/f", "a"), edit("s/f", "missing", "y"), append("s/f", "b"), read("s/nothing"), append("s/f", "c")],
      holds: "abc",
    },
    {
      title: "other files between",
      calls: ["a", "b", "c"].flatMap((text) => [append("s/f", text), append(`s/other-${text}`, text), read("s/f")]),
      holds: "abc",
    },
  ];
  test.each(rows)("$title", async ({ calls, file = "f", holds }) => {
    const world = new World({ "main.worker": free(), "child.worker": child, "in/deep/x": "" });
    const { error } = await attack(world, { model: [calls] });
    expect(error).toBeUndefined();
    expect(world.read(`program/in/${file}`)).toBe(holds);
  });

  test("each read sees what was written before it, and nothing of what comes after", async () => {
    const world = new World({ "main.worker": free(), "child.worker": child, "in/deep/x": "" });
    const calls = numbers(10).flatMap((n) => [append("s/f", n), read("s:f")]);
    const { results } = await attack(world, { model: [calls] });
    const seen = results.filter(({ name }) => name === "read_file").map(({ result }) => (result.ok ? result.value : undefined));
    expect(seen).toMatchObject(numbers(10).map((_, n) => ({ content: numbers(n + 1).join("") })));
  });

  test("with one place for calls at a time, through a child that gets the file and changes it", async () => {
    const world = new World({ "main.worker": free("limits: { parallel: 1 }"), "child.worker": child, "in/deep/x": "" });
    const { error } = await attack(world, {
      model: ({ worker: name, turn }) => {
        if (turn > 1) return "done";
        if (name === "child") return { calls: [append("mine/f", "child "), append("mine/f", "again ")] };
        return { calls: [write("s/f", "first "), { tool: "child", args: { task: "go", file: "s/f" } }, append("s/f", "last ")] };
      },
      request: { limits: { parallel: 1 } },
    });
    expect(error).toBeUndefined();
    expect(world.read("program/in/f")).toMatch(/^first /);
    expect(world.read("program/in/f").trim().split(" ").sort()).toEqual(["again", "child", "first", "last"]);
  });

  test("arguments that a person moves to another call's file do not lock the two", async () => {
    const world = new World({
      "main.worker": free().replaceAll("write_approval: false", "write_approval: true"),
      "child.worker": child,
      "in/deep/x": "",
    });
    const { results } = await attack(world, {
      model: [[append("s/a", "1"), append("s/b", "2"), append("s/a", "3")]],
      approval: {
        mode: "prompt",
        approver: async ({ args }) =>
          args["content"] === "1" && args["path"] === "s/a"
            ? { type: "approve", args: { path: "s/b", content: "1" } }
            : { type: "approve" },
      },
    });
    expect(results.map(outcome)).toEqual(["ok", "ok", "ok"]);
    expect([world.read("program/in/a"), [...world.read("program/in/b")].sort().join("")]).toEqual(["3", "12"]);
  });
});

describe("children in parallel lose nothing that was reported", { timeout: 30_000 }, () => {
  const start = (task: string): ScriptedCall => ({ tool: "child", args: { task } });

  test("appends of eight children to one file", async () => {
    const world = new World({ "main.worker": free(), "child.worker": child, "in/deep/x": "" });
    const names = numbers(8);
    await attack(world, {
      model: ({ worker: name, turn, lastUserText: user }) => {
        if (name === "main") return turn === 1 ? { calls: names.map(start) } : "done";
        const own = /\d/.exec(user())?.[0] ?? "?";
        return turn > 3 ? "done" : { calls: [append("mine/log", `${own}.${turn}a\n`), append("mine/log", `${own}.${turn}b\n`)] };
      },
    });
    const lines = world.read("program/in/log").trim().split("\n");
    expect(lines.toSorted()).toEqual(names.flatMap((n) => [1, 2, 3].flatMap((turn) => [`${n}.${turn}a`, `${n}.${turn}b`])));
    for (const n of names)
      expect(lines.filter((line) => line.startsWith(n))).toEqual(lines.filter((line) => line.startsWith(n)).toSorted());
  });

  test("edits of one line: each is there, or was refused", async () => {
    const world = new World({ "main.worker": free(), "child.worker": child, "in/deep/x": "", "in/list": "START\n" });
    const said: string[] = [];
    await attack(world, {
      model: ({ worker: name, turn, lastUserText: user, toolResults }) => {
        if (name === "main") return turn === 1 ? { calls: numbers(6).map(start) } : "done";
        const own = /\d/.exec(user())?.[0] ?? "?";
        if (turn > 1 && toolResults().every(({ result }) => result.ok)) said.push(`${own}.${turn - 1}`);
        return turn > 4 ? "done" : { calls: [edit("mine/list", "START\n", `START\n${own}.${turn}\n`)] };
      },
    });
    expect(said.length).toBeGreaterThan(0);
    expect(world.read("program/in/list").trim().split("\n").slice(1).toSorted()).toEqual(said.toSorted());
  });

  /** Commands that hold, or have read, a file that a file tool of another child would take away. */
  const commands: readonly (readonly [string, string, readonly string[]])[] = [
    ["that keeps the file open", "exec >> log; echo a1; WAIT; echo a2", ["a1", "a2", "b"]],
    [
      "that writes back what it has read",
      "echo a1 >> log; cat log > copy; WAIT; echo a2 >> copy; cat copy > log",
      ["a1", "a2", "b"],
    ],
    ["that replaces the file", "echo a1 >> log; sed s/a1/a2/ log > copy; WAIT; mv copy log", ["a2", "b"]],
  ];
  test.skipIf(noWall !== "").each(commands)("a command %s, and an append of another child", async (_, script, lines) => {
    const world = new World({ "main.worker": free(), "child.worker": child, "in/deep/x": "" });
    let isRunning = () => {};
    const running = new Promise<void>((resolve) => {
      isRunning = resolve;
    });
    let isAppended = false;
    const command = script.replace("WAIT", "echo > begun; until [ -e go ]; do sleep 0.01; done");
    /** Time enough for the other child's append, where nothing holds it up. */
    const letGo = async () => {
      while (!existsSync(world.at("program/in/begun"))) await stat(world.root);
      isRunning();
      for (let look = 0; look < 3000 && !isAppended; look++) await stat(world.root);
      writeFileSync(world.at("program/in/go"), "");
    };
    const letting = letGo();
    const { error } = await attack(world, {
      model: async ({ worker: name, turn, lastUserText: user }) => {
        if (name === "main") return turn === 1 ? { calls: [start("command"), start("append")] } : "done";
        if (turn > 1) return "done";
        if (user().includes("command")) return { calls: [{ tool: "shell", args: { command } }] };
        await running;
        return { calls: [append("mine/log", "b\n")] };
      },
      request: {
        onEvent: (event: RunEvent) => {
          if (event.type === "tool-result" && event.tool === "append_file") isAppended = true;
        },
      },
    });
    await letting;
    expect(error).toBeUndefined();
    expect(world.read("program/in/log").trim().split("\n").toSorted()).toEqual(lines);
  });
});

const code = `import { tool } from "llm-do";
const input = { type: "object", properties: { text: { type: "string" } } };
export const add = tool({ description: "d", input, approval: "pre-approved", run: async ({ text }, { scopes }) => {
  for (;;) {
    const { facts, bytes } = await scopes.read("s/list");
    try { return void (await scopes.write("s/list", Buffer.concat([bytes, Buffer.from(text)]), { expect: facts.identity })); }
    catch (error) { if (error.type !== "changed") throw error; }
  }
} });
export const careless = tool({ description: "d", input, approval: "pre-approved", run: async ({ text }, { scopes }) =>
  void (await scopes.write("s/list", Buffer.from(text))) });
export const log = tool({ description: "d", input, approval: "pre-approved", run: async ({ text }, { scopes }) =>
  void (await scopes.append("s/list", Buffer.from(text))) });
export const both = tool({ description: "d", input, approval: "pre-approved", calls: ["log"], run: async ({ text }, runtime) =>
  void (await Promise.all([..."123"].map((n) => runtime.call("log", { text: text + n })))) });
`;

describe("code tools lose nothing that was reported", { timeout: 30_000 }, () => {
  const program = worker(`
sandbox: { paths: { s: { root: ./in, mode: rw, write_approval: false } } }
toolsets: { filesystem: {}, add: {}, careless: {}, log: {}, both: { _approval_config: { "*": { pre_approved: true } } } }`);
  const call = (tool: string) => (text: string) => ({ tool, args: { text: `${text}\n` } });

  test.each([
    ["that read and write, in one turn", numbers(12).map(call("add")), numbers(12)],
    ["that append, in one turn", numbers(12).map(call("log")), numbers(12)],
    ["that write without having looked", numbers(3).map(call("careless")), []],
    [
      "beside file tools",
      [...numbers(5).map(call("log")), append("s/list", "x\n"), append("s/list", "y\n")],
      [...numbers(5), "x", "y"],
    ],
  ])("%s", async (_, calls, lines) => {
    const world = new World({ "main.worker": program, "tools.ts": code, "in/list": "START\n" });
    const { results, error } = await attack(world, { model: [calls] });
    expect(error).toBeUndefined();
    expect(results.filter((one) => outcome(one) === "ok")).toHaveLength(lines.length);
    expect(world.read("program/in/list").trim().split("\n").slice(1).toSorted()).toEqual([...lines].toSorted());
  });

  test("runs after one another and at the same time, as a chat starts them", async () => {
    const world = new World({ "main.worker": program, "tools.ts": code, "in/list": "START\n" });
    const one = (name: string) => attack(world, { model: [[call("add")(name)], [append("s/list", `${name}'\n`)]] });
    for (const round of numbers(3)) await Promise.all(["a", "b", "c"].map((name) => one(`${name}${round}`)));
    const names = numbers(3).flatMap((round) => ["a", "b", "c"].map((name) => `${name}${round}`));
    expect(world.read("program/in/list").trim().split("\n").slice(1).toSorted()).toEqual(
      names.flatMap((name) => [name, `${name}'`]).toSorted(),
    );
  });
});

interface Swap {
  readonly title: string;
  readonly call: ScriptedCall;
  readonly swap: (world: World) => void;
  readonly outcome: string;
  readonly holds: Readonly<Record<string, string | undefined>>;
}

/** Replaces what is at a path by something that was made beside it. */
function put(world: World, path: string, make: (at: string) => void): void {
  const at = world.at(`program/${path}`);
  renameSync(at, `${at}.was`);
  make(at);
}

describe("between the question and the write", () => {
  const asking = worker("sandbox: { paths: { s: { root: ./in, mode: rw } } }\ntoolsets: { filesystem: {} }");
  const rows: readonly Swap[] = [
    {
      title: "a file appears where a new one was shown",
      call: write("s/new", "mine"),
      swap: (w) => w.put("program/in/new", "theirs"),
      outcome: "changed",
      holds: { "in/new": "theirs" },
    },
    {
      title: "another file of the same bytes and times takes the place",
      call: write("s/file", "mine"),
      swap: (w) =>
        put(w, "in/file", (at) => {
          const { atime, mtime } = statSync(`${at}.was`);
          writeFileSync(at, "inside");
          utimesSync(at, atime, mtime);
        }),
      outcome: "changed",
      holds: { "in/file": "inside", "in/file.was": "inside" },
    },
    {
      title: "the bytes change in place, length and times as before",
      call: edit("s/file", "in", "out"),
      swap: (w) => {
        const at = w.at("program/in/file");
        const { atime, mtime } = statSync(at);
        writeFileSync(at, "inSIDE");
        utimesSync(at, atime, mtime);
      },
      outcome: "changed",
      holds: { "in/file": "inSIDE" },
    },
    {
      title: "the file goes",
      call: write("s/file", "mine"),
      swap: (w) => unlinkSync(w.at("program/in/file")),
      outcome: "changed",
      holds: { "in/file": undefined },
    },
    {
      title: "the file that is edited goes",
      call: edit("s/file", "in", "out"),
      swap: (w) => unlinkSync(w.at("program/in/file")),
      outcome: "not_found",
      holds: { "in/file": undefined },
    },
    {
      title: "it becomes another name of another file",
      call: write("s/file", "mine"),
      swap: (w) => put(w, "in/file", (at) => linkSync(w.at("program/in/other"), at)),
      outcome: "changed",
      holds: { "in/other": "other" },
    },
    {
      title: "it becomes a link within the scope",
      call: write("s/file", "mine"),
      swap: (w) => put(w, "in/file", (at) => symlinkSync("other", at)),
      outcome: "path_outside_scope",
      holds: { "in/other": "other" },
    },
    {
      title: "what is appended to becomes a link within the scope",
      call: append("s/file", "mine"),
      swap: (w) => put(w, "in/file", (at) => symlinkSync("other", at)),
      outcome: "path_outside_scope",
      holds: { "in/other": "other", "in/file.was": "inside" },
    },
    {
      title: "what is appended to becomes a link outside",
      call: append("s/file", "mine"),
      swap: (w) => put(w, "in/file", (at) => symlinkSync(w.at("outside/file"), at)),
      outcome: "path_outside_scope",
      holds: {},
    },
    {
      title: "its folder becomes a link outside",
      call: write("s/folder/file", "mine"),
      swap: (w) => put(w, "in/folder", (at) => symlinkSync(w.at("outside"), at)),
      outcome: "path_outside_scope",
      holds: { "in/folder.was/file": "inner" },
    },
    {
      title: "the folder of a new file becomes a link outside",
      call: append("s/folder/new", "mine"),
      swap: (w) => put(w, "in/folder", (at) => symlinkSync(w.at("outside"), at)),
      outcome: "path_outside_scope",
      holds: { "in/folder.was/new": undefined },
    },
    {
      title: "it becomes a folder",
      call: write("s/file", "mine"),
      swap: (w) => put(w, "in/file", (at) => mkdirSync(at)),
      outcome: "not_a_file",
      holds: { "in/file.was": "inside" },
    },
    {
      title: "it becomes a pipe",
      call: append("s/file", "mine"),
      swap: (w) => put(w, "in/file", (at) => execFileSync("mkfifo", [at])),
      outcome: "not_a_file",
      holds: { "in/file.was": "inside" },
    },
    {
      title: "it is closed to everybody",
      call: write("s/file", "mine"),
      swap: (w) => execFileSync("chmod", ["0444", w.at("program/in/file")]),
      outcome: "io_error",
      holds: { "in/file": "inside" },
    },
    // These go on: what was approved is the path, and the text that is added.
    {
      title: "somebody appends to what is appended to",
      call: append("s/file", "mine"),
      swap: (w) => w.put("program/in/file", "inside theirs "),
      outcome: "ok",
      holds: { "in/file": "inside theirs mine" },
    },
    {
      title: "another folder takes the place of a new file's",
      call: write("s/folder/new", "mine"),
      swap: (w) => put(w, "in/folder", (at) => mkdirSync(at)),
      outcome: "ok",
      holds: { "in/folder/new": "mine", "in/folder.was/new": undefined },
    },
    {
      title: "another file changes",
      call: write("s/file", "mine"),
      swap: (w) => w.put("program/in/other", "theirs"),
      outcome: "ok",
      holds: { "in/file": "mine", "in/other": "theirs" },
    },
  ];
  test.each(rows)("$title: $outcome", async ({ call, swap, outcome: expected, holds }) => {
    const world = new World({ "main.worker": asking, "in/file": "inside", "in/other": "other", "in/folder/file": "inner" });
    const approver = async () => {
      swap(world);
      return { type: "approve" } as const;
    };
    const { results } = await attack(world, { model: [[call]], approval: { mode: "prompt", approver } });
    expect(results.map(outcome)).toEqual([expected]);
    for (const [path, text] of Object.entries(holds)) {
      const at = world.at(`program/${path}`);
      expect(existsSync(at) ? readFileSync(at, "utf8") : undefined, path).toBe(text);
    }
    expect(world.outside()).toEqual(untouched);
    expect(world.read("outside/file")).toBe(canary);
    expect(readdirSync(world.at("program/in"), { recursive: true }).join()).not.toMatch(/\.tmp|\.lock/);
  });
});

const processes: ChildProcess[] = [];
afterEach(() => {
  for (const one of processes.splice(0)) one.kill("SIGKILL");
});

function runFixture(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ messages: unknown[]; signal: string | null }> {
  const started = spawn(command, args, { cwd, stdio: ["ignore", "ignore", "ignore", "ipc"] });
  processes.push(started);
  const messages: unknown[] = [];
  started.on("message", (message) => messages.push(message));
  return new Promise((resolve, reject) => {
    started.once("error", reject);
    started.once("close", (_, signal) => resolve({ messages, signal }));
  });
}

const fixture = (name: string) => join(import.meta.dirname, `../fixtures/${name}.js`);
const plain = worker(
  "limits: { turns: 1000 }\nsandbox: { paths: { s: { root: ./in, mode: rw } } }\ntoolsets: { filesystem: {} }",
);

describe.runIf(process.platform === "linux")("runs in several processes", { timeout: 60_000 }, () => {
  test("that do not see one another, as in containers with one host name: no append is lost", async () => {
    const world = new World({ "main.worker": plain, "in/list": "START\n" });
    // Other numbers of processes: the same would be taken for oneself.
    const script = (n: number) => `for i in $(seq ${n}); do /bin/true; done; "$0" "$@"; exit $?`;
    const start = (name: string, n: number) =>
      runFixture(
        "unshare",
        ["-Urpf", "sh", "-c", script(5 * n), process.execPath, fixture("run-writer"), world.at("program"), name, "15"],
        world.root,
      );
    const reports = await Promise.all(["a", "b", "c"].map(start));
    const said = reports.flatMap(({ messages }) => messages as { line: string; outcomes: string[] }[]);
    expect(said).toHaveLength(45);
    const kept = (name: string) => world.read(`program/in/${name}`).trim().split("\n");
    const lines = (index: number) => said.filter(({ outcomes }) => outcomes[index] === "ok").map(({ line }) => line);
    expect(kept("log").toSorted()).toEqual(lines(0).toSorted());
    expect(kept("list").slice(1).toSorted()).toEqual(lines(1).toSorted());
  });

  test.each([
    ["append_file", "old\nnew\n"],
    ["write_file", "new\n"],
    ["edit_file", "new\n"],
  ])("one of which is killed before any of the changes that %s makes: whole, and open to the next", async (tool, after) => {
    const worlds = numbers(10).map(() => new World({ "main.worker": plain, "in/log": "old\n" }));
    const ended = await Promise.all(
      worlds.map((world, n) =>
        runFixture(process.execPath, [fixture("killed-writer"), world.at("program"), tool, String(n + 1)], world.root),
      ),
    );
    const killed = ended.filter(({ signal }) => signal === "SIGKILL").length;
    expect(killed).toBeGreaterThan(4);
    expect(killed).toBeLessThan(10);
    expect(new Set(worlds.map((world) => world.read("program/in/log")))).toEqual(new Set(["old\n", after]));
    for (const world of worlds) {
      const before = world.read("program/in/log");
      const { results } = await attack(world, { model: [[append("s/log", "next\n")]] });
      expect(results.map(outcome)).toEqual(["ok"]);
      expect(world.read("program/in/log")).toBe(`${before}next\n`);
      expect(readdirSync(world.at("program/in"))).toEqual(["log"]);
    }
  });

  test("that trust folders at the same time: each is remembered, and what is revoked is gone", async () => {
    const world = new World({ "main.worker": plain });
    const names = numbers(12).map((n) => `folder-${n}`);
    for (const name of names) mkdirSync(world.at(name));
    const open = () =>
      createTrustStore(createNodeHost({ environment: { LLM_DO_STATE_DIR: world.at("state") } }), () => undefined);
    const reach = { workers: {} } as unknown as Reach;
    await open().add(world.at("folder-0"), reach);
    await Promise.all([open().revoke(world.at("folder-0")), ...names.slice(1).map((name) => open().add(world.at(name), reach))]);
    const trusted = (await open().list()).map(({ folder }) => folder);
    expect(trusted).toEqual(
      names
        .slice(1)
        .map((name) => world.at(name))
        .toSorted(),
    );
    rmSync(world.at("state"), { recursive: true });
  });
});
