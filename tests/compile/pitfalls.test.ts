import { describe, expect, test } from "vitest";
import { tool } from "../../src/index.ts";
import { compileOn, createMachine, worker } from "./machine.ts";

describe("files that git cannot keep", () => {
  test("names that differ in case alone, and names of devices", async () => {
    const host = createMachine({
      files: {
        "main.worker": worker("toolsets: { con: {}, Helper: {}, helper: {}, ./aux/x.worker: {} }"),
        "con.worker": worker(),
        "Helper.worker": worker(),
        "helper.worker": worker(),
        "aux/x.worker": worker(),
      },
    });
    const { shown, program } = await compileOn(host);
    expect(shown).toEqual([
      "name-not-portable aux/x.worker:1:1 warning",
      "name-not-portable con.worker:1:1 warning",
      "name-not-portable helper.worker:1:1 warning",
    ]);
    expect([...(program?.workers.keys() ?? [])]).toEqual(["main", "con", "Helper", "helper", "aux/x"]);
  });

  test("a file that the system does not let us read", async () => {
    const host = createMachine({
      files: {
        "main.worker": worker("toolsets: { helper: {}, greet: {} }"),
        "helper.worker": worker(),
        "tools.ts": "export const greet = 1;",
        "llm-do.yaml": "",
      },
    });
    host.setFaults((operation, path) => (operation === "read" && path !== "/work/main.worker" ? "EACCES" : undefined));
    expect((await compileOn(host)).shown).toEqual([
      "file-unreadable - error",
      "file-unreadable main.worker:2:13 error",
      "file-unreadable main.worker:2:13 error",
    ]);
  });

  test("an entry that cannot be read", async () => {
    const host = createMachine({ files: { "main.worker": worker() } });
    host.setFaults((operation) => (operation === "read" ? "EIO" : undefined));
    const { shown, program, outline } = await compileOn(host);
    expect([shown, program, outline]).toEqual([["file-unreadable - error"], undefined, undefined]);
  });

  test("a folder in the place of a file, and a manifest that is one", async () => {
    const host = createMachine({ files: { "main.worker/x": "", "workers/main.worker": worker(), "llm-do.yaml/x": "" } });
    expect((await compileOn(host)).shown).toEqual(["file-unreadable - error"]);
  });

  test("an empty folder, and one that is not there", async () => {
    const host = createMachine({ files: { empty: { folder: true } } });
    expect((await compileOn(host, { target: "empty" })).shown).toEqual(["entry-not-found - error"]);
    expect((await compileOn(host, { target: "./gone" })).shown).toEqual(["target-not-found - error"]);
  });
});

describe("links", () => {
  const front = "toolsets: { inside: {}, outside: {}, ./out/x.worker: {}, loop: {}, ./code.ts:greet: {}, greet: {} }";

  test("within the program are followed, out of it refused, in circles not there", async () => {
    const host = createMachine({
      files: {
        "main.worker": worker(front),
        "real/inside.worker": worker(),
        "inside.worker": { link: "/work/real/inside.worker" },
        "/etc/secret.worker": worker(),
        "/etc/code.ts": "export const greet = 1;",
        "outside.worker": { link: "/etc/secret.worker" },
        out: { link: "/etc" },
        "/etc/x.worker": worker(),
        "loop.worker": { link: "/work/loop.worker" },
        "code.ts": { link: "/etc/code.ts" },
        "tools.ts": { link: "/etc/code.ts" },
      },
    });
    const { shown } = await compileOn(host);
    expect(shown).toEqual([
      "reference-outside main.worker:2:13 error",
      "reference-outside main.worker:2:25 error",
      "reference-outside main.worker:2:38 error",
      "reference-outside main.worker:2:68 error",
    ]);
  });

  test("to the program's folder itself are no obstacle", async () => {
    const host = createMachine({
      files: {
        "real/main.worker": worker("toolsets: { helper: {} }"),
        "real/helper.worker": worker(),
        program: { link: "/work/real" },
      },
    });
    const { shown, program } = await compileOn(host, { target: "program" });
    expect(shown).toEqual([]);
    expect([...(program?.workers.keys() ?? [])]).toEqual(["main", "helper"]);
  });
});

describe("a name as target", () => {
  const files = {
    "/a/far.worker": worker(),
    "/a/repository/near.worker": worker(),
    "/a/repository/.git": "gitdir: elsewhere",
    "/a/repository/deep/er/x.txt": "",
  };

  test("is found upwards to the root of the version control, and no further", async () => {
    const host = createMachine({ files, workingDirectory: "/a/repository/deep/er" });
    const near = await compileOn(host, { target: "near" });
    expect(near.program?.root).toBe("/a/repository");
    expect((await compileOn(host, { target: "far" })).shown).toEqual(["target-not-found - error"]);
  });

  test("is found only here where there is no version control", async () => {
    const host = createMachine({
      files: { "/a/far.worker": worker(), "/a/b/near.worker": worker() },
      workingDirectory: "/a/b",
    });
    expect((await compileOn(host, { target: "near" })).program?.root).toBe("/a/b");
    expect((await compileOn(host, { target: "far" })).shown).toEqual(["target-not-found - error"]);
  });

  test("is never a path", async () => {
    const host = createMachine({ files, workingDirectory: "/a/repository/deep" });
    expect((await compileOn(host, { target: "../far" })).shown).toEqual(["target-not-found - error"]);
  });
});

describe("trust", () => {
  const files = {
    "main.worker": worker("model: scripted:./play.ts\ntoolsets: { greet: {} }"),
    "play.ts": "export default () => 'hi';",
    "tools.ts": "import './lib.js'; import type { T } from './types.ts'; import 'zod'; export const greet = tool();",
    "lib.ts": "export {};",
    "types.ts": "export type T = 1;",
  };

  test("without it nothing is imported, and all that would be is named", async () => {
    const imported: string[] = [];
    const host = createMachine({ files });
    const spying = { ...host, importModule: async (path: string) => ({ pushed: imported.push(path) }) };
    const { program, outline, untrusted, codeFiles, shown } = await compileOn(spying);
    expect(imported).toEqual([]);
    expect(program).toBeUndefined();
    expect(codeFiles).toEqual(["/work/lib.ts", "/work/play.ts", "/work/tools.ts"]);
    expect(untrusted).toEqual({
      root: "/work",
      files: codeFiles,
      addresses: [],
      reasons: ["runs code: lib.ts, play.ts, tools.ts"],
    });
    expect(shown).toEqual(["model-unused --model:1:1 warning", "not-verified-untrusted main.worker:3:13 hint"]);
    expect(outline?.ceiling).toMatchObject({ unverified: ["greet"], code: ["lib.ts", "play.ts", "tools.ts"] });
  });

  test("with it the program is there, and its code is part of it", async () => {
    const greet = tool({ input: { type: "object" }, run: () => "hi" });
    const host = createMachine({ files, modules: { "tools.ts": { greet } } });
    const { program, untrusted, shown } = await compileOn(host, { trust: true });
    expect(shown).toEqual(["model-unused --model:1:1 warning"]);
    expect(untrusted).toBeUndefined();
    expect(program?.files).toEqual(["/work/main.worker", "/work/tools.ts", "/work/play.ts", "/work/lib.ts"]);
  });

  test("is not asked for what the user names", async () => {
    const host = createMachine({ files: { "main.worker": worker(), "play.ts": "" } });
    for (const request of [
      { model: "scripted:play.ts" },
      { set: ["model=scripted:play.ts"] },
      { modelFor: ["*=scripted:play.ts"] },
    ]) {
      const { program, untrusted } = await compileOn(host, request);
      expect(untrusted).toBeUndefined();
      expect(program?.entry).toMatchObject({ worker: { model: { id: "scripted:/work/play.ts", namedBy: "user" } } });
    }
  });
});

describe("what a program costs", () => {
  const five: Record<string, string> = {
    "main.worker": worker("toolsets: { a: {}, b: {} }"),
    "a.worker": worker("description: x\ntoolsets: { c: {} }"),
    "b.worker": worker("description: x\ntoolsets: { d: {}, main: {}, a: {} }"),
    "workers/c.worker": worker("description: x\ntoolsets: { c: {} }"),
    "workers/d/worker.worker": worker("description: x\ntoolsets: { filesystem: {} }"),
  };

  test("is what its reachable part costs: the folder is listed once, nothing else is read", async () => {
    const others = Array.from({ length: 2000 }, (_, index) => [`workers/unused_${index}.worker`, "no worker"]);
    const host = createMachine({ files: { ...five, ...Object.fromEntries(others), "tools.ts": "export const x = 1;" } });
    const seen: string[] = [];
    host.setFaults((operation, path) => void seen.push(`${operation} ${path}`));
    const { shown, program } = await compileOn(host, { target: "main.worker" });
    expect(shown).toEqual(["description-missing main.worker:1:1 warning"]);
    expect(program?.workers.size).toBe(5);
    expect(seen.filter((one) => one.startsWith("names"))).toEqual(["names /work", "names /home/user/.config/llm-do"]);
    expect(seen.filter((one) => one.startsWith("read")).sort()).toEqual(
      [...Object.keys(five), "tools.ts"].map((path) => `read /work/${path}`).sort(),
    );
  });

  test("a name that misses is looked for once, and suggests what is near", async () => {
    const host = createMachine({ files: { ...five, "main.worker": worker("toolsets: { aa: {}, worker_d: {}, dd: {} }") } });
    const { diagnostics } = await compileOn(host);
    expect(diagnostics.map(({ code }) => code)).toEqual(["unknown-toolset", "unknown-toolset", "unknown-toolset"]);
    expect(diagnostics[0]?.notes[0]?.message).toMatch(/did you mean `a`/);
  });

  test("a huge tools.ts is read, not run, for one name", async () => {
    const filler = Array.from(
      { length: 60_000 },
      (_, index) => `export function f${index}(x: number): number { return x / 2; }\n`,
    );
    const host = createMachine({
      files: { "main.worker": worker("toolsets: { filesystem: {} }"), "tools.ts": filler.join("") },
    });
    expect((await compileOn(host, { trust: true })).shown).toEqual([]);
  });
});

test("a program is the same wherever it is compiled, and another one where its configuration is", async () => {
  const files = { "p/main.worker": worker("toolsets: { helper: {} }"), "p/helper.worker": worker(), "p/llm-do.yaml": "name: x" };
  const digestOf = async (change: Record<string, string> = {}, request: object = {}) => {
    const { program } = await compileOn(createMachine({ files: { ...files, ...change } }), { target: "p", ...request });
    return program?.digest;
  };
  const moved = Object.fromEntries(Object.entries(files).map(([path, text]) => [`elsewhere/${path}`, text]));
  const there = await compileOn(createMachine({ files: moved }), { target: "elsewhere/p" });
  expect(there.program?.digest).toBe(await digestOf());
  const others = await Promise.all([
    digestOf(),
    digestOf({ "p/helper.worker": worker("description: y") }),
    digestOf({ "p/llm-do.yaml": "name: y" }),
    digestOf({}, { set: ["limits.turns=3"] }),
    digestOf({}, { model: "anthropic:other" }),
  ]);
  expect(new Set(others).size).toBe(5);
});
