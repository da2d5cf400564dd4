import { describe, expect, test } from "vitest";
import { resume, run, tool, undo } from "../../src/index.ts";
import { mostOfFile } from "../../src/journal/write-log.ts";
import { type Script, scriptedModel } from "../../src/testing/index.ts";
import { type MemoryHost, memoryHost } from "../../src/testing/memory-host.ts";
import type { MemoryFaults } from "../../src/testing/memory-tree.ts";
import { dropSecrets, runsIn } from "../records.ts";

const main = "---\ntoolsets: { filesystem: {}, shout: {} }\n---\nYou write.\n";
const calls = (...made: [tool: string, args: Record<string, string>][]) => ({
  calls: made.map(([tool, args]) => ({ tool, args })),
});

function playing(script: Script) {
  return { name: "test", description: "for tests", keyVariables: [], create: async () => scriptedModel(script, "test:m") };
}

interface Written {
  readonly host: MemoryHost;
  readonly directory: string;
}

async function record(
  turns: readonly ReturnType<typeof calls>[],
  files: Record<string, string> = {},
  faults?: MemoryFaults,
): Promise<Written> {
  const host = memoryHost({
    files: { "/p/main.worker": main, "/p/tools.ts": "export const shout = 0;\n", ...files },
    modules: { "/p/tools.ts": { shout } },
  });
  const script: Script = ({ turn }) => turns[turn - 1] ?? "done";
  const request = { host, target: "/p", model: "test:m", providers: [playing(script)], trust: true, input: "go" };
  if (faults) host.setFaults(faults);
  const { runId } = await run({ ...request, approval: { mode: "approve_all" } });
  return { host, directory: `${runsIn("/p")}/${runId}` };
}

const shout = tool({ input: { type: "object", properties: { text: { type: "string" } } }, run: () => "done" });

function filesOf(host: MemoryHost): Record<string, string> {
  return Object.fromEntries(Object.entries(host.snapshot("/p")).filter(([path]) => path.endsWith(".txt")));
}

const actions = ({ files }: { readonly files: readonly { readonly path: string; readonly action: string }[] }) =>
  Object.fromEntries(files.map(({ path, action }) => [path, action]));

const before = { "/p/a.txt": "old\n", "/p/b.txt": "b\n" };
const turns = [
  calls(["write_file", { path: "a.txt", content: "hello\n" }], ["write_file", { path: "new/n.txt", content: "n" }]),
  calls(["edit_file", { path: "a.txt", old_text: "hello", new_text: "bye" }], ["append_file", { path: "b.txt", content: "x" }]),
  calls(["shout", { text: "hey" }]),
];

test("restores what files held before the run, removes what it made, and lists what stays", async () => {
  const { host, directory } = await record(turns, before);
  expect(filesOf(host)).toEqual({ "/p/a.txt": "bye\n", "/p/b.txt": "b\nx", "/p/new/n.txt": "n" });
  const dry = await undo({ host, directory, confirm: () => false });
  expect(dry.isDone).toBe(false);
  expect(filesOf(host)["/p/a.txt"]).toBe("bye\n");
  const report = await undo({ host, directory });
  expect(actions(report)).toEqual({ "/p/b.txt": "restore", "/p/a.txt": "restore", "/p/new/n.txt": "remove" });
  expect(report.lasting).toEqual([{ callPath: "main/4.shout", tool: "shout", args: { text: "hey" } }]);
  expect(filesOf(host)).toEqual(before);
  expect(actions(await undo({ host, directory }))).toEqual({ "/p/b.txt": "same", "/p/a.txt": "same", "/p/new/n.txt": "same" });
});

test("leaves a file that was changed since, and takes the others back", async () => {
  const { host, directory } = await record(turns, before);
  host.put("/p/a.txt", "mine\n");
  const report = await undo({ host, directory });
  expect(actions(report)).toMatchObject({ "/p/a.txt": "changed", "/p/b.txt": "restore" });
  expect(filesOf(host)).toEqual({ "/p/a.txt": "mine\n", "/p/b.txt": "b\n" });
});

test("leaves a file that is changed while the user is asked", async () => {
  const { host, directory } = await record(turns, before);
  const confirm = () => {
    host.put("/p/a.txt", "mine\n");
    return true;
  };
  expect(actions(await undo({ host, directory, confirm }))).toMatchObject({ "/p/a.txt": "changed", "/p/new/n.txt": "remove" });
  expect(filesOf(host)["/p/a.txt"]).toBe("mine\n");
});

test("restores the content between two writes where something else wrote it", async () => {
  const files = { "/p/a.txt": "old\n" };
  const host = memoryHost({ files: { "/p/main.worker": main.replace(", shout: {}", ""), ...files } });
  const script: Script = ({ turn }) => {
    if (turn === 2) host.put("/p/a.txt", "mine\n");
    return turn <= 2 ? calls(["write_file", { path: "a.txt", content: `run ${turn}` }]) : "done";
  };
  const { runId } = await run({
    host,
    target: "/p",
    model: "test:m",
    input: "go",
    providers: [playing(script)],
    approval: { mode: "approve_all" },
  });
  const { files: undone } = await undo({ host, directory: `${runsIn("/p")}/${runId}` });
  expect(undone).toMatchObject([{ path: "/p/a.txt", action: "restore", isPartial: true }]);
  expect(filesOf(host)["/p/a.txt"]).toBe("mine\n");
});

test("names a file that was too large to be kept, and keeps none of it", async () => {
  const large = { "/p/a.txt": "x".repeat(mostOfFile + 1) };
  const { host, directory } = await record([calls(["write_file", { path: "a.txt", content: "small" }])], large);
  const kept = Object.values(host.snapshot(host.stateDirectory)).reduce((sum, text) => sum + text.length, 0);
  expect(kept).toBeLessThan(10_000);
  expect(actions(await undo({ host, directory }))).toEqual({ "/p/a.txt": "not-kept" });
  expect(filesOf(host)["/p/a.txt"]).toBe("small");
});

describe("one call", () => {
  test("is taken back alone where no other call of its worker wrote the file", async () => {
    const { host, directory } = await record(turns, before);
    await expect(undo({ host, directory, call: "main/9.write_file" })).rejects.toThrow("there is no call `main/9.write_file`");
    await expect(undo({ host, directory, call: "main/2.edit_file" })).rejects.toThrow(
      "several calls of `main` wrote `a.txt`: main/0.write_file, main/2.edit_file; take back all that `main` wrote",
    );
    const report = await undo({ host, directory, call: "main/3.append_file" });
    expect({ ...actions(report), lasting: report.lasting }).toEqual({ "/p/b.txt": "restore", lasting: [] });
    expect(filesOf(host)).toEqual({ ...before, "/p/a.txt": "bye\n", "/p/new/n.txt": "n" });
    expect(actions(await undo({ host, directory, call: "main" }))).toMatchObject({ "/p/a.txt": "restore", "/p/b.txt": "same" });
    expect(filesOf(host)).toEqual(before);
  });

  /** Fails the first look at `a.txt` after it was replaced. */
  const failAfterWrite = (): MemoryFaults => {
    let isReplaced: boolean | undefined;
    return (operation, path) => {
      if (operation === "rename" && path.startsWith("/p/.llm-do-")) isReplaced ??= true;
      if (operation !== "look" || path !== "/p/a.txt" || !isReplaced) return undefined;
      isReplaced = false;
      return "EIO";
    };
  };
  const write = (path: string, content: string): [string, Record<string, string>] => ["write_file", { path, content }];

  test("that failed after it wrote is taken back", async () => {
    const failing = calls(["edit_file", { path: "b.txt", old_text: "missing", new_text: "x" }], write("a.txt", "new"));
    const { host, directory } = await record(
      [failing, calls(["append_file", { path: "b.txt", content: "x" }])],
      before,
      failAfterWrite(),
    );
    expect(filesOf(host)).toEqual({ "/p/a.txt": "new", "/p/b.txt": "b\nx" });
    expect(actions(await undo({ host, directory, call: "main/0.edit_file" }))).toEqual({});
    expect(actions(await undo({ host, directory, call: "main/1.write_file" }))).toEqual({ "/p/a.txt": "restore" });
    expect(actions(await undo({ host, directory, call: "main/2.append_file" }))).toEqual({ "/p/b.txt": "restore" });
    expect(filesOf(host)).toEqual(before);
  });

  test("that failed after it wrote counts among those that wrote its file", async () => {
    const { host, directory } = await record(
      [calls(write("a.txt", "new")), calls(write("a.txt", "newer"))],
      before,
      failAfterWrite(),
    );
    expect(filesOf(host)["/p/a.txt"]).toBe("newer");
    const several = "several calls of `main` wrote `a.txt`: main/0.write_file, main/1.write_file";
    for (const call of ["main/0.write_file", "main/1.write_file"]) {
      await expect(undo({ host, directory, call })).rejects.toThrow(several);
    }
  });

  test("of a worker takes those below it with it, and a file that was written again later stays", async () => {
    const child = `toolsets: { filesystem: {} }\ndescription: c`;
    const files = {
      "/p/main.worker": "---\ntoolsets: { child: { _approval_config: { child: { pre_approved: true } } } }\n---\nYou hand on.\n",
      "/p/child.worker": `---\n${child}\n---\nYou write.\n`,
      ...before,
    };
    const host = memoryHost({ files });
    const write = (path: string, content: string) => calls(["write_file", { path, content }]);
    const script: Script = ({ worker, turn, lastUserText }) => {
      if (worker === "child") return turn > 1 ? "done" : write(...(lastUserText().split(" ") as [string, string]));
      const inputs = ["a.txt one", "b.txt two", "a.txt three"];
      return turn <= inputs.length ? calls(["child", { input: inputs[turn - 1] ?? "" }]) : "done";
    };
    const approval = { mode: "approve_all" } as const;
    const { runId } = await run({ host, target: "/p", model: "test:m", providers: [playing(script)], input: "go", approval });
    const directory = `${runsIn("/p")}/${runId}`;
    expect(actions(await undo({ host, directory, call: "main/0.child" }))).toEqual({ "/p/a.txt": "changed" });
    expect(actions(await undo({ host, directory, call: "main/1.child" }))).toEqual({ "/p/b.txt": "restore" });
    expect(filesOf(host)).toEqual({ "/p/a.txt": "three", "/p/b.txt": "b\n" });
  });
});

test("lists the calls that wrote where nothing of the files is kept", async () => {
  const { host, directory } = await record(turns, before);
  await dropSecrets(host, directory);
  const { files, lasting } = await undo({ host, directory });
  expect(files).toEqual([]);
  expect(lasting.map(({ tool }) => tool).sort()).toEqual(["append_file", "edit_file", "shout", "write_file", "write_file"]);
});

test("does not list a write that failed where nothing was kept, because nothing was written", async () => {
  const { host, directory } = await record(
    [calls(["write_file", { path: "new/a.txt", content: "x" }], ["shout", { text: "hey" }])],
    {},
    (operation, path) => (path.startsWith("/p/new") && operation === "makeDirectory" ? "EROFS" : undefined),
  );
  expect(filesOf(host)).toEqual({});
  const { files, lasting } = await undo({ host, directory });
  expect(files).toEqual([]);
  expect(lasting.map(({ tool }) => tool)).toEqual(["shout"]);
});

test("refuses a run that is under way, and a run that was taken back does not go on", async () => {
  const { host, directory } = await record(turns, before);
  const journal = `${directory}/journal.jsonl`;
  const lines = (await host.files.readText(journal)).split("\n");
  host.put(journal, `${lines.slice(0, -2).join("\n")}\n`);
  const other = { self: "memory 2", isRunning: () => true };
  await expect(undo({ host: { ...host, processes: other }, directory })).rejects.toThrow("another process executes this run");
  expect(filesOf(host)["/p/a.txt"]).toBe("bye\n");
  await undo({ host, directory });
  const again = resume({
    host,
    target: "/p",
    model: "test:m",
    directory,
    trust: true,
    approval: { mode: "prompt" },
    providers: [playing(() => "done")],
  });
  await expect(again).rejects.toThrow("what this run wrote was taken back");
});
