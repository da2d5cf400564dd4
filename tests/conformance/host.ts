import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Host } from "../../src/host/host.ts";
import { type ScopeDeclaration, ScopeError, type Scopes } from "../../src/host/scopes.ts";

export type FixtureContent =
  | string
  | Uint8Array
  | { readonly link: string }
  | { readonly other: true }
  | { readonly folder: true };

/** A host with an empty folder of its own. */
export interface HostFixture {
  readonly host: Host;
  /** Absolute path of the folder; without links. */
  readonly root: string;
  put(path: string, content: FixtureContent): Promise<void>;
  cleanup(): Promise<void>;
}

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array) => new TextDecoder().decode(content);

/** What every implementation of `Host` promises. */
export function describeHost(name: string, createFixture: () => Promise<HostFixture>): void {
  let fixture: HostFixture;
  const at = (path: string) => `${fixture.root}/${path}`;
  const opened: Scopes[] = [];

  beforeEach(async () => {
    fixture = await createFixture();
  });
  afterEach(async () => {
    for (const scopes of opened.splice(0)) await scopes.close();
    await fixture.cleanup();
  });

  const declare = (name: string, folder: string, more: Partial<ScopeDeclaration> = {}): ScopeDeclaration => ({
    name,
    root: folder === "" ? fixture.root : at(folder),
    mode: "rw",
    ...more,
  });

  async function open(...declarations: ScopeDeclaration[]): Promise<Scopes> {
    const scopes = await fixture.host.openScopes(declarations, {
      programFolder: at("program"),
      programFiles: [at("program/help.ts")],
    });
    opened.push(scopes);
    return scopes;
  }

  /** What a refusal says; it must not say where anything is on the machine. */
  async function refusal(action: Promise<unknown> | (() => unknown)): Promise<ScopeError> {
    const error = await (async () => (typeof action === "function" ? action() : action))().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ScopeError)) throw new Error(`expected a ScopeError, got ${String(error)}`, { cause: error });
    const said = JSON.stringify([error.message, error.hint, error.details, error.stack?.split("\n")[0]]);
    expect(said).not.toContain(fixture.root);
    expect(said).not.toContain("/proc/");
    return error;
  }

  describe(`${name}: files`, () => {
    test("writes whole files, reads them back, and keeps the mode of what it replaces", async () => {
      const { files } = fixture.host;
      await files.makeDirectory(at("a/b"));
      await files.writeAtomically(at("a/b/x.txt"), "one", 0o600);
      await files.writeAtomically(at("a/b/x.txt"), bytes("two"));
      expect(await files.readText(at("a/b/x.txt"))).toBe("two");
      expect(await files.names(at("a/b"))).toEqual(["x.txt"]);
      const scopes = await open(declare("s", "a/b"));
      expect((await scopes.facts("s/x.txt")).mode).toBe(0o600);
    });

    test("a failed write leaves nothing behind", async () => {
      await expect(fixture.host.files.writeAtomically(at("missing/x"), "x")).rejects.toMatchObject({ code: "ENOENT" });
      await fixture.put("folder/inner", { folder: true });
      await expect(fixture.host.files.writeAtomically(at("folder/inner"), "x")).rejects.toThrow();
      expect(await fixture.host.files.names(at("folder"))).toEqual(["inner"]);
    });

    test("a link stays a link when it is written", async () => {
      await fixture.put("real.txt", "old");
      await fixture.put("alias.txt", { link: at("real.txt") });
      await fixture.host.files.writeAtomically(at("alias.txt"), "new");
      expect(await fixture.host.files.readText(at("real.txt"))).toBe("new");
      expect(await fixture.host.files.realPath(at("alias.txt"))).toBe(at("real.txt"));
    });

    test("tells kinds and names, and what is not there", async () => {
      await fixture.put("f", "x");
      await fixture.put("d", { folder: true });
      await fixture.put("p", { other: true });
      const { files } = fixture.host;
      expect(await Promise.all(["f", "d", "p", "none"].map((path) => files.kind(at(path))))).toEqual([
        "file",
        "directory",
        "other",
        undefined,
      ]);
      expect(await files.names(at("none"))).toEqual([]);
      await expect(files.readText(at("none"))).rejects.toMatchObject({ code: "ENOENT" });
      await expect(files.readBytes(at("d"))).rejects.toMatchObject({ code: "EISDIR" });
    });

    test("removes a file, a folder with all in it, and nothing", async () => {
      await fixture.put("d/e/f", "x");
      await fixture.host.files.remove(at("d"));
      await fixture.host.files.remove(at("d"));
      expect(await fixture.host.files.kind(at("d"))).toBeUndefined();
    });

    test("appends in order, from several opens", async () => {
      const log = await fixture.host.files.openAppend(at("log"));
      for (let n = 0; n < 100; n++) log.append(`${n}\n`);
      await Promise.all([log.sync(), log.sync()]);
      log.append("é\n");
      await log.sync();
      await log.close();
      expect(() => log.append("late")).toThrow();
      const again = await fixture.host.files.openAppend(at("log"));
      again.append("end");
      await again.close();
      const written = await fixture.host.files.readText(at("log"));
      expect(written).toBe(`${Array.from({ length: 100 }, (_, n) => `${n}\n`).join("")}é\nend`);
    });
  });

  describe(`${name}: time and ids`, () => {
    test("ids are unique, sort by time and are safe as file names", () => {
      const ids = Array.from({ length: 200 }, () => fixture.host.createId());
      expect(new Set(ids).size).toBe(200);
      for (const id of ids) expect(id).toMatch(/^\d{8}-\d{6}-[a-z0-9]{6}$/);
    });

    test("random numbers lie between 0 and 1", () => {
      for (let n = 0; n < 100; n++) {
        const random = fixture.host.random();
        expect(random >= 0 && random < 1).toBe(true);
      }
    });

    test("an aborted sleep rejects with the signal's reason", async () => {
      const controller = new AbortController();
      const sleeping = fixture.host.clock.sleep(60_000, controller.signal);
      controller.abort(new Error("stop it"));
      await expect(sleeping).rejects.toThrow("stop it");
      await expect(fixture.host.clock.sleep(1, controller.signal)).rejects.toThrow("stop it");
    });
  });

  describe(`${name}: scopes, opening`, () => {
    test("makes a missing rw root, refuses a missing ro root and what is no folder", async () => {
      await fixture.put("file", "x");
      const scopes = await open(declare("out", "deep/new/out"));
      expect((await scopes.list("out", { pattern: "**/*", maxEntries: 9 })).paths).toEqual([]);
      expect((await refusal(open(declare("in", "nothing", { mode: "ro" })))).type).toBe("not_found");
      expect((await refusal(open(declare("in", "file", { mode: "ro" })))).type).toBe("not_a_directory");
      expect((await refusal(open(declare("in", "file")))).type).toBe("not_a_directory");
      expect((await refusal(open(declare("in", "file/below")))).type).toBe("not_a_directory");
    });

    test("follows a link to the root itself, once", async () => {
      await fixture.put("real/a.txt", "first");
      await fixture.put("other/a.txt", "second");
      await fixture.put("alias", { link: at("real") });
      const scopes = await open(declare("s", "alias", { mode: "ro" }));
      await fixture.host.files.remove(at("alias"));
      await fixture.put("alias", { link: at("other") });
      expect(text((await scopes.read("s/a.txt")).bytes)).toBe("first");
    });

    test("refuses one folder under two names", async () => {
      await fixture.put("a/x", "x");
      expect((await refusal(open(declare("one", "a"), declare("two", "a")))).message).toContain("same folder");
    });

    test("nothing works after close", async () => {
      await fixture.put("a/x", "x");
      const scopes = await fixture.host.openScopes([declare("s", "a")]);
      await scopes.close();
      await scopes.close();
    });
  });

  describe(`${name}: scopes, syntax of paths`, () => {
    const good: readonly (readonly [string, string])[] = [
      ["decks/a.md", "decks/a.md"],
      ["decks:a.md", "decks/a.md"],
      ["decks:", "decks"],
      ["./decks/a.md", "decks/a.md"],
      ["decks//a.md", "!"],
      ["decks/x//a.md", "decks/x/a.md"],
      ["decks/./x/.", "decks/x"],
      ["decks/", "decks"],
      ["decks", "decks"],
      ["decks/ü/日本.md", "decks/ü/日本.md"],
    ];
    test.each(good)("%s", async (path, canonical) => {
      const scopes = await open(declare("decks", "d"));
      if (canonical === "!") expect((await refusal(() => scopes.resolve(path))).type).toBe("path_outside_scope");
      else expect(scopes.resolve(path).virtualPath).toBe(canonical);
    });

    test("in the default scope there is no prefix, and a named scope wins", async () => {
      const scopes = await open(declare(".", "all"), declare("decks", "d"));
      for (const path of ["", ".", "./"]) expect(scopes.resolve(path)).toMatchObject({ virtualPath: ".", components: [] });
      expect(scopes.resolve("notes/a.md")).toMatchObject({ virtualPath: "notes/a.md", scope: { name: "." } });
      expect(scopes.resolve("decks/a.md").scope.name).toBe("decks");
      expect(scopes.resolve(".:decks/a.md")).toMatchObject({ virtualPath: ".:decks/a.md", scope: { name: "." } });
      expect(scopes.resolve(".:notes/a.md").virtualPath).toBe("notes/a.md");
      expect(scopes.resolve("./~x").virtualPath).toBe(".:~x");
      expect(scopes.resolve(scopes.resolve("./~x").virtualPath).components).toEqual(["~x"]);
    });

    const outside = [
      ["/etc/passwd"],
      ["//server/share"],
      ["~"],
      ["~/x"],
      ["~root/x"],
      ["C:/x"],
      ["c:x"],
      ["decks:/etc/passwd"],
      ["decks//etc/passwd"],
      [".."],
      ["../x"],
      ["decks/.."],
      ["decks/../x"],
      ["decks/a/../../../x"],
      ["other/x"],
      ["decks-evil/x"],
      ["decksevil"],
      [""],
      ["."],
      ["file:///etc/passwd"],
    ];
    test.each(outside)("outside: %s", async (path) => {
      await fixture.put("r", { folder: true });
      const scopes = await open(declare("decks", "d"), declare("reports", "r", { mode: "ro" }));
      const error = await refusal(() => scopes.resolve(path));
      expect(error.type).toBe("path_outside_scope");
      expect(error.hint).toContain("decks/");
      expect(error.details).toEqual({ readable: ["decks", "reports"], writable: ["decks"] });
    });

    const invalid = [
      ["decks/a\0b"],
      ["decks\\..\\x"],
      ["decks/a\nb"],
      ["decks/\u009b"],
      ["decks/\ud800"],
      [`decks/${"é".repeat(128)}`],
    ];
    test.each([...invalid, [`decks/${"a/".repeat(3000)}`]])("invalid: %j", async (path) => {
      const scopes = await open(declare("decks", "d"));
      expect((await refusal(() => scopes.resolve(path))).type).toBe("invalid_path");
      expect((await refusal(scopes.read(path))).type).toBe("invalid_path");
      expect(await scopes.canRead(path)).toBe(false);
    });

    test("dots that are a name of their own are a name", async () => {
      await fixture.put("d/.../x", "dots");
      const scopes = await open(declare("decks", "d"));
      expect(text((await scopes.read("decks/.../x")).bytes)).toBe("dots");
    });
  });

  describe(`${name}: scopes, reading`, () => {
    test("reads what is there, with facts", async () => {
      await fixture.put("d/a/b.md", "héllo");
      const scopes = await open(declare("decks", "d", { mode: "ro" }));
      const { facts, bytes: content } = await scopes.read("decks/a/b.md");
      expect(text(content)).toBe("héllo");
      expect(facts).toMatchObject({ virtualPath: "decks/a/b.md", type: "file", bytes: 6 });
      expect(await scopes.facts("decks/a/b.md")).toEqual(facts);
      expect(await scopes.facts("decks/a")).toMatchObject({ type: "directory", virtualPath: "decks/a" });
      expect(await scopes.facts("decks")).toMatchObject({ type: "directory", virtualPath: "decks" });
      expect(text((await scopes.read("decks/a/b.md", { maxBytes: 1 })).bytes)).toBe("h");
    });

    test("not_found names the nearest, of what could be read alone", async () => {
      await fixture.put("d/report.md", "x");
      await fixture.put("d/report.key", "x");
      await fixture.put("d/.env.md", "x");
      await fixture.put("d/folder/x.md", "x");
      const scopes = await open(declare("decks", "d", { suffixes: [".md"] }));
      const error = await refusal(scopes.read("decks/reprot.md"));
      expect(error).toMatchObject({ type: "not_found", details: { nearest: ["decks/report.md"] } });
      expect((await refusal(scopes.read("decks/report.ky"))).type).toBe("suffix_not_allowed");
      expect((await refusal(scopes.read("decks/foldr/x.md"))).details).toEqual({ nearest: ["decks/folder"] });
      expect((await refusal(scopes.read("decks/.en.md"))).details).toEqual({ nearest: [] });
      const shy = await open(declare("decks", "d", { readApproval: true }));
      expect((await refusal(shy.read("decks/reprot.md"))).details).toEqual({ nearest: [] });
    });

    test("folders, pipes and files as folders are refused, without waiting", async () => {
      await fixture.put("d/folder/x", "x");
      await fixture.put("d/pipe", { other: true });
      const scopes = await open(declare("decks", "d"));
      for (const path of ["decks", "decks/folder", "decks/pipe"]) {
        expect((await refusal(scopes.read(path))).type).toBe("not_a_file");
        expect((await refusal(scopes.write(path, bytes("x"), { expect: undefined }))).type).toBe("not_a_file");
      }
      expect((await refusal(scopes.facts("decks/pipe"))).type).toBe("not_a_file");
      expect((await refusal(scopes.read("decks/folder/x/y"))).type).toBe("not_a_directory");
      expect((await refusal(scopes.list("decks/folder/x", { pattern: "*", maxEntries: 1 }))).type).toBe("not_a_directory");
    });

    test("suffixes hold on the name in any case, and on it alone", async () => {
      await fixture.put("d/a.PDF", "x");
      await fixture.put("d/a.pdf.exe", "x");
      await fixture.put("d/pdf", "x");
      const scopes = await open(declare("decks", "d", { suffixes: [".pdf"] }));
      expect(await scopes.canRead("decks/a.PDF")).toBe(true);
      expect((await refusal(scopes.read("decks/a.pdf.exe"))).details).toEqual({ suffixes: [".pdf"] });
      expect((await refusal(scopes.read("decks/pdf"))).type).toBe("suffix_not_allowed");
      expect((await refusal(scopes.write("decks/new.txt", bytes("x"), { expect: undefined }))).type).toBe("suffix_not_allowed");
    });

    test("the size limit holds for reading and writing, and names itself", async () => {
      await fixture.put("d/big", "x".repeat(11));
      await fixture.put("d/fits", "x".repeat(10));
      const scopes = await open(declare("decks", "d", { maxFileBytes: 10 }));
      expect((await refusal(scopes.read("decks/big"))).details).toEqual({ max_file_bytes: 10 });
      expect((await refusal(scopes.read("decks/big", { maxBytes: 5 }))).type).toBe("file_too_large");
      expect((await scopes.read("decks/fits")).bytes.length).toBe(10);
      expect((await refusal(scopes.write("decks/n", bytes("x".repeat(11)), { expect: undefined }))).type).toBe("file_too_large");
      expect(await fixture.host.files.names(at("d"))).toEqual(["big", "fits"]);
    });
  });

  describe(`${name}: scopes, links`, () => {
    test("no link below a root is followed, wherever it leads", async () => {
      await fixture.put("secret/canary", "canary");
      await fixture.put("d/inside", "inside");
      for (const [link, target] of [
        ["out", at("secret")],
        ["relative", "../secret"],
        ["file", at("secret/canary")],
        ["self", at("d/inside")],
        ["loop", "loop"],
        ["dangling", at("secret/new")],
        ["proc", "/proc/self/root"],
      ] as const) {
        await fixture.put(`d/${link}`, { link: target });
      }
      const scopes = await open(declare("decks", "d"));
      for (const path of ["out/canary", "relative/canary", "file", "self", "loop", "loop/x", "dangling", "proc/etc/passwd"]) {
        expect((await refusal(scopes.read(`decks/${path}`))).type).toBe("path_outside_scope");
        expect((await refusal(scopes.facts(`decks/${path}`))).type).toBe("path_outside_scope");
        expect((await refusal(scopes.inspect(`decks/${path}`, "write"))).type).toBe("path_outside_scope");
        const writing = scopes.write(`decks/${path}`, bytes("evil"), { expect: undefined });
        expect((await refusal(writing)).type).toBe("path_outside_scope");
      }
      expect((await refusal(scopes.write("decks/out/deep/new", bytes("evil"), { expect: undefined }))).type).toBe(
        "path_outside_scope",
      );
      expect((await refusal(scopes.list("decks/out", { pattern: "**", maxEntries: 9 }))).type).toBe("path_outside_scope");
      expect((await scopes.list("decks", { pattern: "**/*", maxEntries: 99 })).paths).toEqual(["decks/inside"]);
      expect(await fixture.host.files.names(at("secret"))).toEqual(["canary"]);
      expect(await fixture.host.files.readText(at("secret/canary"))).toBe("canary");
    });

    test("a sibling whose name begins alike is another folder", async () => {
      await fixture.put("root/a", "x");
      await fixture.put("root-evil/canary", "canary");
      const scopes = await open(declare("s", "root"));
      for (const path of ["s-evil/canary", "s/../root-evil/canary", "../root-evil/canary"]) {
        expect((await refusal(scopes.read(path))).type).toBe("path_outside_scope");
      }
    });
  });

  describe(`${name}: scopes, writing`, () => {
    test("makes folders, creates, replaces, and returns what the next write expects", async () => {
      const scopes = await open(declare("out", "o"));
      const first = await scopes.write("out/a/b/c.txt", bytes("one"), { expect: undefined });
      const second = await scopes.write("out/a/b/c.txt", bytes("two"), { expect: first.identity });
      expect(second).toMatchObject({ virtualPath: "out/a/b/c.txt", bytes: 3 });
      expect(second.identity).not.toBe(first.identity);
      expect(await fixture.host.files.readText(at("o/a/b/c.txt"))).toBe("two");
      expect(await fixture.host.files.names(at("o/a/b"))).toEqual(["c.txt"]);
    });

    test("refuses where the file is another one than the caller judged", async () => {
      await fixture.put("o/x", "old");
      const scopes = await open(declare("out", "o"));
      const { identity } = await scopes.facts("out/x");
      expect((await refusal(scopes.write("out/x", bytes("new"), { expect: undefined }))).type).toBe("io_error");
      expect((await refusal(scopes.write("out/none", bytes("new"), { expect: identity }))).type).toBe("io_error");
      await fixture.put("o/x", "changed");
      expect((await refusal(scopes.write("out/x", bytes("new"), { expect: identity }))).type).toBe("io_error");
      expect(await fixture.host.files.readText(at("o/x"))).toBe("changed");
      expect(await fixture.host.files.names(at("o"))).toEqual(["x"]);
    });

    test("a read-only scope names the writable ones", async () => {
      await fixture.put("i/x", "x");
      const scopes = await open(declare("in", "i", { mode: "ro" }), declare("out", "o"));
      const error = await refusal(scopes.write("in/new/x", bytes("x"), { expect: undefined }));
      expect(error).toMatchObject({ type: "path_not_writable", details: { writable: ["out"] } });
      expect((await refusal(scopes.inspect("in/x", "write"))).type).toBe("path_not_writable");
      expect([await scopes.canWrite("in/x"), await scopes.canWrite("out/new/file")]).toEqual([false, true]);
      expect(await fixture.host.files.names(at("i"))).toEqual(["x"]);
      expect([scopes.readable(), scopes.writable()]).toEqual([["in", "out"], ["out"]]);
    });
  });

  describe(`${name}: scopes in scopes`, () => {
    test("the deepest root decides, under every name", async () => {
      await fixture.put("all/a.md", "a");
      await fixture.put("all/out/b.md", "b");
      const scopes = await open(declare(".", "all", { mode: "ro" }), declare("out", "all/out", { suffixes: [".md"] }));
      expect(await scopes.facts("out/b.md")).toMatchObject({ virtualPath: "out/b.md", scope: { name: "out" } });
      expect(await scopes.facts(".:out/b.md")).toMatchObject({ virtualPath: "out/b.md", scope: { name: "out" } });
      await scopes.write(".:out/new/c.md", bytes("c"), { expect: undefined });
      expect((await refusal(scopes.write(".:out/c.exe", bytes("c"), { expect: undefined }))).type).toBe("suffix_not_allowed");
      expect((await refusal(scopes.write("a.md", bytes("c"), { expect: undefined }))).type).toBe("path_not_writable");
      expect(scopes.covered(".").map((scope) => scope.name)).toEqual([".", "out"]);
      expect(scopes.covered("out").map((scope) => scope.name)).toEqual(["out"]);
      expect(scopes.covered(".:out/new").map((scope) => scope.name)).toEqual(["out"]);
    });

    test("a read-only scope in a writable one stays read-only, even when its folder is gone", async () => {
      await fixture.put("all/fixed/a", "a");
      const scopes = await open(declare("all", "all"), declare("fixed", "all/fixed", { mode: "ro" }));
      expect((await refusal(scopes.write("all/fixed/a", bytes("x"), { expect: undefined }))).type).toBe("path_not_writable");
      expect((await refusal(scopes.write("all/fixed/b/c", bytes("x"), { expect: undefined }))).type).toBe("path_not_writable");
      await fixture.host.files.remove(at("all/fixed"));
      expect((await refusal(scopes.write("all/fixed/b", bytes("x"), { expect: undefined }))).type).toBe("io_error");
      expect((await refusal(scopes.write("all/fixed", bytes("x"), { expect: undefined }))).type).toBe("io_error");
      await fixture.put("all/fixed/a", "another folder");
      // Only a held descriptor can tell the new folder from the old one where the disk uses inode numbers again.
      const again = await refusal(scopes.write("all/fixed/a", bytes("x"), { expect: undefined }));
      expect(["io_error", "path_not_writable"]).toContain(again.type);
      expect(await fixture.host.files.readText(at("all/fixed/a"))).toBe("another folder");
    });

    test("lists see nested scopes, once, and can be kept to some", async () => {
      await fixture.put("all/a.md", "a");
      await fixture.put("all/out/b.md", "b");
      const scopes = await open(declare("all", "all"), declare("out", "all/out"));
      const list = (path: string, only?: string[]) =>
        scopes.list(path, { pattern: "**/*", maxEntries: 9, ...(only === undefined ? {} : { scopes: only }) });
      expect((await list("all")).paths).toEqual(["all/a.md", "all/out/b.md"]);
      expect((await list(".")).paths).toEqual(["all/a.md", "out/b.md"]);
      expect((await list("all", ["all"])).paths).toEqual(["all/a.md"]);
      expect((await list("all", ["out"])).paths).toEqual(["all/out/b.md"]);
    });
  });

  describe(`${name}: protected names`, () => {
    test("the program's own files and what would join them cannot be written", async () => {
      await fixture.put("program/main.worker", "w");
      await fixture.put("program/help.ts", "t");
      await fixture.put("program/free.ts", "t");
      const scopes = await open(declare(".", "program"), declare("around", ""));
      for (const path of [
        "main.worker",
        "help.ts",
        "new.worker",
        "deep/new.worker",
        "tools.ts",
        "TOOLS.JS",
        "llm-do.yaml",
        "tools/index.ts",
      ]) {
        for (const spelling of [path, `around/program/${path}`]) {
          expect(scopes.protection(scopes.resolve(spelling))).toBe("program");
          expect(await scopes.canWrite(spelling)).toBe(false);
          const { identity } = (await scopes.inspect(spelling, "write")).facts ?? {};
          expect((await refusal(scopes.write(spelling, bytes("evil"), { expect: identity }))).type).toBe("path_protected");
        }
      }
      expect(await scopes.canRead("main.worker")).toBe(true);
      expect(await scopes.canWrite("free.ts")).toBe(true);
      expect(scopes.protection(scopes.resolve("around/elsewhere/tools.ts"))).toBeUndefined();
      expect(scopes.protection(scopes.resolve("around/elsewhere/x.worker"))).toBe("ask-write");
    });

    test.each([
      [".env", "ask-read-and-write"],
      [".env.local", "ask-read-and-write"],
      [".ENV", "ask-read-and-write"],
      [".git/config", "ask-read-and-write"],
      ["a/.GIT/hooks/pre-commit", "ask-read-and-write"],
      [".git.", "ask-read-and-write"],
      [".git ", "ask-read-and-write"],
      [".g\u200cit/config", "ask-read-and-write"],
      ["．ｇｉｔ/config", "ask-read-and-write"],
      [".llm-do/runs/x", "ask-read-and-write"],
      ["package.json", "ask-write"],
      ["Package.JSON", "ask-write"],
      [".bashrc", "ask-write"],
      [".vscode/settings.json", "ask-write"],
      [".github/workflows/ci.yml", "ask-write"],
      [".github/CODEOWNERS", undefined],
      ["environment.md", undefined],
      ["git/config", undefined],
      ["tools.ts", undefined],
    ])("%s: %s", async (path, protection) => {
      const scopes = await open(declare("s", "plain"));
      expect(scopes.protection(scopes.resolve(`s/${path}`))).toBe(protection);
    });
  });

  describe(`${name}: lists`, () => {
    test("sorted by code unit, filtered, capped at the same place every time", async () => {
      for (const path of [
        "b/x.md",
        "b.md",
        "a.md",
        "B.md",
        "b-c.md",
        "b/y/z.md",
        "ä.md",
        ".hidden/x.md",
        ".hidden.md",
        "n.txt",
      ]) {
        await fixture.put(`d/${path}`, "x");
      }
      const scopes = await open(declare("s", "d"));
      const { paths, truncated } = await scopes.list("s", { pattern: "**/*.md", maxEntries: 99 });
      expect(truncated).toBe(false);
      expect(paths).toEqual(["s/B.md", "s/a.md", "s/b-c.md", "s/b.md", "s/b/x.md", "s/b/y/z.md", "s/ä.md"]);
      expect([...paths].sort()).toEqual(paths);
      expect(await scopes.list("s", { pattern: "**/*.md", maxEntries: 3 })).toEqual({
        paths: paths.slice(0, 3),
        truncated: true,
      });
      expect(await scopes.list("s", { pattern: "**/*.md", maxEntries: 7 })).toEqual({ paths, truncated: false });
      expect((await scopes.list("s/b", { pattern: "*", maxEntries: 9 })).paths).toEqual(["s/b/x.md"]);
      expect((await scopes.list("s", { pattern: "{b,.hidden}/*.md", maxEntries: 9 })).paths).toEqual([
        "s/.hidden/x.md",
        "s/b/x.md",
      ]);
    });

    test("what asks before it is read is left out, unless the list begins in it", async () => {
      for (const path of [".git/config", ".git/refs/x", ".env", "a.md"]) await fixture.put(`d/${path}`, "x");
      const scopes = await open(declare("s", "d"));
      const list = async (path: string, pattern: string) => (await scopes.list(path, { pattern, maxEntries: 9 })).paths;
      expect(await list("s", "{.git/**,.env,*}")).toEqual(["s/a.md"]);
      expect(await list("s/.git", "**/*")).toEqual(["s/.git/config", "s/.git/refs/x"]);
    });

    test("only what may be read: suffixes, pipes and links aside", async () => {
      for (const path of ["a.md", "a.key"]) await fixture.put(`d/${path}`, "x");
      await fixture.put("d/pipe.md", { other: true });
      const scopes = await open(declare("s", "d", { suffixes: [".md"] }));
      expect((await scopes.list("s", { pattern: "*", maxEntries: 9 })).paths).toEqual(["s/a.md"]);
    });

    test("a folder that a named scope hides is spelt so that it can be read", async () => {
      await fixture.put("all/decks/x", "hidden");
      await fixture.put("all/a", "a");
      await fixture.put("d/x", "named");
      const scopes = await open(declare(".", "all"), declare("decks", "d"));
      const { paths } = await scopes.list(".", { pattern: "**/*", maxEntries: 9 });
      expect(paths).toEqual([".:decks/x", "a"]);
      expect(text((await scopes.read(".:decks/x")).bytes)).toBe("hidden");
      expect(text((await scopes.read("decks/x")).bytes)).toBe("named");
    });

    test("stops when told to", async () => {
      await fixture.put("d/a", "x");
      const scopes = await open(declare("s", "d"));
      const signal = AbortSignal.abort(new Error("enough"));
      await expect(scopes.list("s", { pattern: "*", maxEntries: 9, signal })).rejects.toThrow("enough");
    });

    test("refuses patterns that leave the folder", async () => {
      const scopes = await open(declare("s", "d"));
      for (const pattern of ["../*", "/etc/*", "a/../../*", "{a,b}".repeat(9)]) {
        expect((await refusal(scopes.list("s", { pattern, maxEntries: 9 }))).type).toBe("invalid_path");
      }
    });
  });
}
