import { describe, expect, test } from "vitest";
import { bytes, type HostFixture, text, useHost } from "./host-bench.ts";

/** Which paths mean what, and what can be read. */
export function describeScopeReading(createFixture: () => Promise<HostFixture>): void {
  const { fixture, at, declare, open, refusal } = useHost(createFixture);

  describe(`scopes, opening`, () => {
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

  describe(`scopes, syntax of paths`, () => {
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

  describe(`scopes, reading`, () => {
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

  describe(`scopes, links`, () => {
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
}
