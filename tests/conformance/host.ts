import { describe, expect, test } from "vitest";
import { bytes, type HostFixture, useHost } from "./host-bench.ts";
import { describeScopeReading } from "./host-scopes-reading.ts";
import { describeScopeWriting } from "./host-scopes-writing.ts";

/** Files, time and ids. */
function describeHostFiles(createFixture: () => Promise<HostFixture>): void {
  const { fixture, at, declare, open } = useHost(createFixture);

  describe("files", () => {
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
      await expect(files.readText(at("p"))).rejects.toMatchObject({ code: "ENXIO" });
    });

    test("reads no more than it may, and nothing outside of the folder that it is told", async () => {
      const { files } = fixture.host;
      await fixture.put("in/file", "12345");
      await fixture.put("out/file", "secret");
      await fixture.put("in/alias", { link: at("in/file") });
      await fixture.put("in/leads", { link: at("out/file") });
      await fixture.put("door", { link: at("in") });
      await fixture.put("in/sub", { link: at("out") });
      expect(await files.readText(at("in/file"), { maxBytes: 5 })).toBe("12345");
      const ends = await files.readEnds(at("in/file"), { bytes: 2 });
      expect([ends.start, ends.end].map((bytes) => Buffer.from(bytes).toString())).toEqual(["12", "45"]);
      expect(ends.bytes).toBe(5);
      expect((await files.readEnds(at("in/file"), { bytes: 9 })).end).toHaveLength(5);
      await expect(files.readText(at("in/file"), { maxBytes: 4 })).rejects.toMatchObject({ code: "EFBIG" });
      for (const path of ["in/file", "in/alias", "door/file"])
        expect(await files.readText(at(path), { within: at("door") })).toBe("12345");
      for (const path of ["in/leads", "in/sub/file", "out/file"])
        await expect(files.readBytes(at(path), { within: at("in") })).rejects.toMatchObject({ code: "EXDEV" });
    });

    test("makes folders of its own through no link", async () => {
      const { files } = fixture.host;
      await fixture.put("program/link", { link: at("outside") });
      await fixture.put("outside", { folder: true });
      await fixture.put("program/broken", { link: at("nowhere") });
      await files.makeOwnDirectory(at("program"), ["a", "b"]);
      await files.makeOwnDirectory(at("program"), ["a", "b"]);
      expect(await files.kind(at("program/a/b"))).toBe("directory");
      for (const link of ["link", "broken"])
        await expect(files.makeOwnDirectory(at("program"), [link, "b"])).rejects.toMatchObject({ code: "ELOOP" });
      expect(await files.names(at("outside"))).toEqual([]);
      await files.makeDirectory(at("program/link/c/d"));
      expect(await files.names(at("outside/c"))).toEqual(["d"]);
    });

    test("removes a file, a folder with all in it, and nothing", async () => {
      await fixture.put("d/e/f", "x");
      await fixture.host.files.remove(at("d"));
      await fixture.host.files.remove(at("d"));
      expect(await fixture.host.files.kind(at("d"))).toBeUndefined();
    });

    test("appends in order, from several opens", async () => {
      const log = await (await fixture.host.files.openOwn(at("."))).openAppend("log");
      for (let n = 0; n < 100; n++) log.append(`${n}\n`);
      await Promise.all([log.sync(), log.sync()]);
      log.append("é\n");
      await log.sync();
      await log.close();
      expect(() => log.append("late")).toThrow();
      const again = await (await fixture.host.files.openOwn(at("."))).openAppend("log");
      again.append("end");
      await again.close();
      const written = await fixture.host.files.readText(at("log"));
      expect(written).toBe(`${Array.from({ length: 100 }, (_, n) => `${n}\n`).join("")}é\nend`);
    });
  });

  describe(`time and ids`, () => {
    test("ids are unique, sort by time and are safe as file names", () => {
      const ids = Array.from({ length: 200 }, () => fixture.host.createId());
      expect(new Set(ids).size).toBe(200);
      for (const id of ids) expect(id).toMatch(/^\d{8}-\d{6}-[a-z0-9]{6}$/);
    });

    test("keys are 32 bytes in hex, and no two are equal", () => {
      const keys = [fixture.host.createKey(), fixture.host.createKey()];
      for (const key of keys) expect(key).toMatch(/^[0-9a-f]{64}$/);
      expect(new Set(keys).size).toBe(2);
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
}

/** Tests the contract of `Host`. */
export function describeHost(name: string, createFixture: () => Promise<HostFixture>): void {
  describe(name, () => {
    describeHostFiles(createFixture);
    describeScopeReading(createFixture);
    describeScopeWriting(createFixture);
  });
}
