import { describe, expect, test } from "vitest";
import { scopeTable } from "../../src/host/scopes/open-scopes.ts";
import type { ScopeDeclaration, ScopeError, Scopes } from "../../src/host/scopes/scopes.ts";
import { type MemoryHost, memoryHost } from "../../src/testing/memory-host.ts";

function declare(name: string, root = `/w/${name}`, mode: "ro" | "rw" = "rw"): ScopeDeclaration {
  return { name, root, realRoot: root, mode };
}

/** A host with its operations on folders of scopes, as `openRoot /w/in`. */
function watched() {
  const touched: string[] = [];
  const host = memoryHost({ files: { "/w/in/file": "text", "/w/in/sub/file": "text" } });
  host.setFaults((operation, path) => {
    touched.push(`${operation} ${path}`);
    return undefined;
  });
  return { host, touched };
}

function openLater(host: MemoryHost, declarations: readonly ScopeDeclaration[], owner: object = {}): Promise<Scopes> {
  return host.openScopes(declarations, { atFirstUse: true, owner, programFiles: ["/w/in/file"], programFolder: "/w" });
}

const bytes = new TextEncoder().encode("new");

/** All that touches the disk. */
const uses: Readonly<Record<string, (scopes: Scopes, name: string) => Promise<unknown>>> = {
  facts: (scopes, name) => scopes.facts(`${name}/file`),
  inspect: (scopes, name) => scopes.inspect(`${name}/file`, "write"),
  read: (scopes, name) => scopes.read(`${name}/file`),
  write: (scopes, name) => scopes.write(`${name}/new`, bytes, { expect: undefined }),
  append: (scopes, name) => scopes.append(`${name}/new`, bytes),
  list: (scopes, name) => scopes.list(name, { pattern: "**", maxEntries: 9 }),
  "list all": (scopes) => scopes.list(".", { pattern: "**", maxEntries: 9 }),
  search: (scopes, name) => {
    const limits = { maxMatches: 9, maxBytesOfFile: 99, milliseconds: 999 };
    return scopes.search(name, { pattern: "**", regex: "t", ...limits });
  },
  names: (scopes, name) => scopes.names(name, 9),
  forCommands: (scopes) => scopes.forCommands(),
  scopeTable: (scopes) => scopeTable(scopes),
};

describe("scopes that are opened at their first use", () => {
  test("answer without the disk what needs no disk, and make nothing", async () => {
    const { host, touched } = watched();
    const scopes = await openLater(host, [declare("in"), declare("out")]);
    expect(scopes.declarations.map(({ name }) => name)).toEqual(["in", "out"]);
    expect([scopes.readable(), scopes.writable()]).toEqual([
      ["in", "out"],
      ["in", "out"],
    ]);
    expect(scopes.protection(scopes.resolve("in/file"))).toBe("program");
    expect(scopes.protection(scopes.resolve("in/other"))).toBeUndefined();
    expect(scopes.target("out/a")).toMatch(/w\/out\/a$/);
    expect(scopes.covered("out/a").map(({ name }) => name)).toEqual(["out"]);
    expect(() => scopes.resolve("../x")).toThrow("must begin with the name of a scope");
    await scopes.close();
    await scopes.close();
    expect(touched).toEqual([]);
  });

  test.each(Object.keys(uses))("open all of them for %s, once for several at once", async (use) => {
    const { host, touched } = watched();
    const scopes = await openLater(host, [declare("in"), declare("out")]);
    await Promise.all([uses[use]?.(scopes, "in"), scopes.canRead("in/file"), scopes.canWrite("out/a")]);
    expect(touched.filter((one) => one === "openRoot /w/in")).toHaveLength(1);
    expect(touched.some((one) => one.startsWith("makeDirectory"))).toBe(true);
    await scopes.close();
    // The folders below are looked through for what killed processes left.
    expect(touched.some((one) => one.startsWith("openDirectory") && one.endsWith("/sub"))).toBe(true);
  });

  test.each(Object.keys(uses))("are not opened for %s when they are closed", async (use) => {
    const { host, touched } = watched();
    const scopes = await openLater(host, [declare("in"), declare("out")]);
    await scopes.close();
    await expect(uses[use]?.(scopes, "in")).rejects.toMatchObject({ type: "io_error", message: "The scopes are closed." });
    expect(await scopes.canRead("in/file")).toBe(false);
    expect(touched).toEqual([]);
  });

  test("are closed after an opening that is under way, and after the write that waits for it", async () => {
    const { host } = watched();
    const scopes = await openLater(host, [declare("in"), declare("out")]);
    const written = scopes.write("out/new", bytes, { expect: undefined });
    await scopes.close();
    expect(await written).toMatchObject({ virtualPath: "out/new" });
    expect(host.snapshot("/w/out")).toEqual({ "/w/out/new": "new" });
  });

  test("share the folders of their owner, which stay open for the others", async () => {
    const { host, touched } = watched();
    const owner = {};
    const [first, second] = [await openLater(host, [declare("in")], owner), await openLater(host, [declare("in")], owner)];
    await first.read("in/file");
    await second.read("in/file");
    await first.close();
    expect(await second.canRead("in/file")).toBe(true);
    await second.close();
    expect(touched.filter((one) => one === "openRoot /w/in")).toHaveLength(1);
  });

  const refused: Readonly<Record<string, readonly [readonly ScopeDeclaration[], Partial<ScopeError>]>> = {
    "one folder twice": [[declare("in"), declare("again", "/w/in")], { type: "invalid_path" }],
    "a folder that leads elsewhere": [[declare("in"), { ...declare("out"), realRoot: "/w/before" }], { type: "io_error" }],
    "a missing folder to read": [[declare("in"), declare("gone", "/w/gone", "ro")], { type: "not_found" }],
    "a file": [[declare("in"), declare("file", "/w/in/file")], { type: "not_a_directory" }],
  };
  const each = Object.entries(refused).flatMap(([what, of]) => Object.keys(uses).map((use) => [what, use, ...of] as const));

  test.each(each)("refuse %s before %s", async (_what, use, declarations, error) => {
    const { host, touched } = watched();
    const scopes = await openLater(host, declarations);
    await expect(uses[use]?.(scopes, "in")).rejects.toMatchObject(error);
    await expect(scopes.read("in/file")).rejects.toMatchObject(error);
    expect([await scopes.canRead("in/file"), await scopes.canWrite("in/file")]).toEqual([false, false]);
    await scopes.close();
    expect(touched.filter((one) => !one.startsWith("openRoot "))).toEqual([]);
  });

  test.each(["", "/credentials", "/workers"])("are refused at once where one is the state folder%s", async (below) => {
    const { host } = watched();
    const folder = `/home/user/.local/state/llm-do${below}`;
    host.put(`${folder}/file`, "key");
    await expect(openLater(host, [declare("in"), declare("keys", folder)])).rejects.toMatchObject({ type: "path_protected" });
  });

  test("are opened at once where the place of one is not known", async () => {
    const { host, touched } = watched();
    const scopes = await openLater(host, [declare("in"), { name: "out", root: "/w/out", mode: "rw" }]);
    expect(touched).toContain("openRoot /w/out");
    await scopes.close();
    await expect(openLater(host, [{ name: "gone", root: "/w/gone", mode: "ro" }])).rejects.toMatchObject({ type: "not_found" });
  });
});

test("scopes without declarations touch nothing, and make no folder for commands when they are closed", async () => {
  const { host, touched } = watched();
  const scopes = await openLater(host, []);
  expect(await scopes.list(".", { pattern: "**", maxEntries: 9 })).toMatchObject({ paths: [] });
  await scopes.close();
  await expect(scopes.forCommands()).rejects.toThrow("The scopes are closed.");
  expect(touched).toEqual([]);
});
