import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { knownEntriesOf } from "../../src/host/command/look.ts";
import { countProcesses, endMarked, markerName, type ProcessCount } from "../../src/host/command/marked-processes.ts";
import { OutputEnds } from "../../src/host/command/output-ends.ts";
import { toBubblewrapLaunch } from "../../src/host/wall/bubblewrap.ts";
import { type Mount, orderMounts } from "../../src/host/wall/mount.ts";
import { createSeatbeltProfile } from "../../src/host/wall/seatbelt.ts";
import { createSeccompFilter } from "../../src/host/wall/seccomp.ts";
import { copySettings, makeCopiesFolder } from "../../src/host/wall/settings-copy.ts";
import { isWithin } from "../../src/util/within.ts";

describe("the filter of system calls", () => {
  const x64 = 0xc000003e;
  const arm64 = 0xc00000b7;
  const allowed = 0x7fff0000;
  const refused = 0x00050001;
  const lacking = { call: 0x00050026, family: 0x00050061 };
  const plain = 0o100;

  test.each([
    ["read", 0, [], allowed],
    ["the last call of all", 469, [], allowed],
    ["keyctl", 250, [], refused],
    ["io_uring_setup", 425, [], refused],
    ["AF_UNIX", 41, [1, 1], lacking.family],
    ["AF_INET", 41, [2, 1], allowed],
    ["AF_INET6", 41, [10, 1], allowed],
    ["AF_NETLINK", 41, [16, 3], allowed],
    ["AF_VSOCK", 41, [40, 1], refused],
    ["AF_ALG", 41, [38, 5], refused],
    ["a pair of stream sockets, close-on-exec and non-blocking", 53, [1, 1 | 0o2004000], allowed],
    ["a pair of SOCK_SEQPACKET", 53, [1, 5], allowed],
    ["a pair of datagram sockets, which can be connected elsewhere", 53, [1, 2 | 0o2000000], refused],
    ["a pair of SOCK_RAW, which are datagrams too", 53, [1, 3], refused],
    ["a pair of AF_TIPC", 53, [30, 1], refused],
    ["chmod 755", 90, [0, 0o755], allowed],
    ["chmod 1777", 90, [0, 0o1777], allowed],
    ["chmod 4755", 90, [0, 0o4755], refused],
    ["fchmod 2755", 91, [3, 0o2755], refused],
    ["fchmodat 6755", 268, [3, 0, 0o6755], refused],
    ["fchmodat2 4755", 452, [3, 0, 0o4755, 0], refused],
    ["mknod 4755", 133, [0, 0o104755], refused],
    ["mknodat 755", 259, [3, 0, 0o100755], allowed],
    ["creat 4755", 85, [0, 0o4755], refused],
    ["open to create 4755", 2, [0, plain, 0o4755], refused],
    ["open to create 644", 2, [0, plain, 0o644], allowed],
    ["open of what is there, whatever its mode would be", 2, [0, 1, 0o4755], allowed],
    ["openat of a file without a name, 4755", 257, [3, 0, 0o20200002, 0o4755], refused],
    ["openat of a folder", 257, [3, 0, 0o200000, 0o7777], allowed],
    ["openat2", 437, [3, 0, 0], lacking.call],
    ["a lock of a file", 72, [3, 6], allowed],
    ["a lease of a file", 72, [3, 1024, 0], refused],
    ["a delegation of a file", 72, [3, 1040], refused],
  ])("%s", (_, call, args, expected) => {
    expect(judge("x64", { architecture: x64, call, args })).toBe(expected);
  });

  test.each([
    ["a 32-bit program", 0x40000003, 0],
    ["x32", x64, 0x40000000 + 41],
  ])("refuses %s", (_, architecture, call) => {
    expect(judge("x64", { architecture, call, args: [2] })).toBe(refused);
  });

  test("uses the numbers of each processor, and makes no filter for unknown ones", () => {
    const on = (call: number, ...args: number[]) => judge("arm64", { architecture: arm64, call, args });
    expect([on(198, 1), on(198, 2), on(199, 1, 1)]).toEqual([lacking.family, allowed, allowed]);
    expect([on(52, 3, 0o4755), on(53, 3, 0, 0o644), on(56, 3, 0, plain, 0o4755)]).toEqual([refused, allowed, refused]);
    expect([on(25, 3, 6), on(25, 3, 1024)]).toEqual([allowed, refused]);
    expect(createSeccompFilter("riscv64")).toBeUndefined();
  });

  /** The answer of the few instructions of the kernel's machine that we use. */
  function judge(processor: string, call: { architecture: number; call: number; args: readonly number[] }): number {
    const filter = createSeccompFilter(processor) ?? new Uint8Array();
    const view = new DataView(filter.buffer, filter.byteOffset, filter.length);
    const facts = new Map([
      [0, call.call],
      [4, call.architecture],
      ...call.args.map((arg, index) => [16 + 8 * index, arg] as const),
    ]);
    const meets = {
      21: (a: number, b: number) => a === b,
      53: (a: number, b: number) => a >= b,
      69: (a: number, b: number) => (a & b) !== 0,
    };
    let loaded = 0;
    for (let at = 0; at < filter.length; at += 8) {
      const value = view.getUint32(at + 4, true);
      const code = view.getUint16(at, true);
      if (code === 0x20) loaded = facts.get(value) ?? Number.NaN;
      else if (code === 0x54) loaded &= value;
      else if (code === 0x06) return value;
      else at += 8 * view.getUint8(at + (meets[code as keyof typeof meets](loaded, value) ? 2 : 3));
    }
    throw new Error("it has no end");
  }
});

/** The options that `bwrap` gets for a view. */
function optionsFor(mounts: readonly Mount[]): readonly string[] {
  const { handed } = toBubblewrapLaunch(
    { file: "bwrap", features: new Set() },
    {
      argv: ["true"],
      environment: {},
      mounts,
      cwd: "/",
      cwdHandle: undefined,
      network: false,
      shell: "/bin/bash",
      gitConfiguration: undefined,
    },
  );
  const last = handed.at(-1);
  return last?.type === "bytes" ? Buffer.from(last.bytes).toString().split("\0") : [];
}

describe("mounts", () => {
  test("are ordered from outer to inner paths; the later of two at one path counts", () => {
    const mounts: Mount[] = [
      { kind: "writable", path: "/a/b/c", source: "/a/b/c" },
      { kind: "hidden-folder", path: "/a" },
      { kind: "read-only", path: "/a/b", source: "/a/b" },
      { kind: "writable", path: "/a", source: "/a" },
      { kind: "empty", path: "/" },
    ];
    expect(orderMounts(mounts).map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      "empty /",
      "writable /a",
      "read-only /a/b",
      "writable /a/b/c",
    ]);
  });

  test("that show or hide what a mount around them does are left out", () => {
    const readOnly = (path: string, source = path): Mount => ({ kind: "read-only", path, source });
    const shown = [
      readOnly("/a"),
      readOnly("/a/same"),
      readOnly("/a/other", "/b"),
      { ...readOnly("/a/held"), descriptor: 9 } as Mount,
      { kind: "writable", path: "/a/scope", source: "/a/scope" } as Mount,
      readOnly("/a/scope/in"),
      { kind: "hidden-folder", path: "/a/secret" } as Mount,
      readOnly("/a/secret/bin"),
      { kind: "hidden-folder", path: "/a/secret/inner" } as Mount,
      { kind: "hidden-file", path: "/a/secret/inner/file" } as Mount,
      { kind: "writable", path: "/a/secret/scope", source: "/a/secret/scope" } as Mount,
      { kind: "hidden-folder", path: "/a/secret/scope/secret" } as Mount,
    ];
    const words = optionsFor(shown);
    const hidden = words.filter((_, index) => words[index - 1] === "--tmpfs");
    expect(hidden.filter((path) => path.startsWith("/a"))).toEqual(["/a/secret", "/a/secret/scope/secret"]);
    const paths = words.filter((_, index) => words[index - 2]?.startsWith("--ro-bind"));
    expect(paths).toEqual(["/a", "/a/other", "/a/held", "/a/scope/in", "/a/secret/bin"]);
  });

  test("of private folders in one another, or of /sys where nothing shows it, are plain folders", () => {
    const inner: Mount = { kind: "empty", path: "/run/in" };
    const both = optionsFor([{ kind: "empty", path: "/run" }, inner]).join(" ");
    expect(both).toContain("--tmpfs /run --dir /run/in --proc");
    expect(both).toContain("--dir /sys");
    const covered = optionsFor([{ kind: "writable", path: "/", source: "/" }, inner]).join(" ");
    expect(covered).toContain("--tmpfs /run/in");
    expect(covered).toContain("--tmpfs /sys --remount-ro /sys");
  });

  test("isWithin compares components", () => {
    expect([
      isWithin("/a/b", "/a"),
      isWithin("/a", "/a"),
      isWithin("/ab", "/a"),
      isWithin("/a/..b", "/a"),
      isWithin("/", "/a"),
      isWithin("/a/../b", "/a"),
      isWithin("/a/b/..", "/a"),
      isWithin("/a//b", "/a/"),
      isWithin("/a", "/"),
      isWithin("a/b", "a"),
      isWithin("a", "/a"),
    ]).toEqual([true, true, false, true, false, false, true, true, true, true, false]);
  });
});

describe("small files of /etc", () => {
  const processes = { self: "machine boot 1 2", isRunning: (owner: string) => owner !== "machine boot 1 1" };
  const small: Mount = { kind: "read-only", path: "/etc/hosts", source: "/etc/hosts" };
  const large: Mount = { kind: "read-only", path: "/etc/ssl", source: "/etc/ssl" };
  const ofVersion = (version: string): Mount => ({ ...small, copies: [{ path: "/etc/hosts", mode: 0o444, version }] });
  let parent = "";
  const see = (...mounts: readonly Mount[]) => copySettings(mounts, { parent, processes });

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), "llm-do-settings-"));
  });
  afterEach(() => rmSync(parent, { recursive: true }));

  test.each<[string, Mount | undefined, boolean]>([
    ["no scope", undefined, true],
    ["a scope around it", { kind: "writable", path: "/", source: "/" }, false],
    ["a scope in it", { kind: "writable", path: "/etc/in", source: "/etc/in" }, false],
    ["a scope that is it", { kind: "read-only", path: "/etc", source: "/etc", descriptor: 9 }, false],
    ["a scope beside it", { kind: "writable", path: "/etc-in", source: "/etc-in" }, true],
    ["a hidden file in it", { kind: "hidden-file", path: "/etc/hosts" }, false],
  ])("with %s are shown by a copy: %s", async (_, other, isCopied) => {
    const view = await see(ofVersion("1"), large, ...(other ? [other] : []));
    expect(view.mounts.some(({ path }) => path === "/etc/hosts")).toBe(!isCopied);
    expect(readdirSync(parent)).toHaveLength(isCopied ? 1 : 0);
    view.release();
  });

  test("are copied once, and anew when one changes; a copy in use stays", async () => {
    const [first, again] = [await see(ofVersion("1"), large), await see(ofVersion("1"), large)];
    const copy = first.mounts.find(({ path }) => path === "/etc") as Mount & { kind: "read-only" };
    expect(again.mounts).toEqual(first.mounts);
    expect(readFileSync(join(copy.source, "hosts"), "utf8")).toBe(readFileSync("/etc/hosts", "utf8"));
    expect(readdirSync(copy.source).sort()).toEqual(["hosts", "ssl"]);
    first.release();
    const changed = await see(ofVersion("2"), large);
    expect(readdirSync(parent)).toHaveLength(2);
    again.release();
    changed.release();
    expect(readdirSync(parent)).toHaveLength(1);
    expect(existsSync(copy.source)).toBe(false);
  });

  test("of a process that was killed are removed by a later one", async () => {
    mkdirSync(join(parent, "settings_machine_boot_1_1_x/etc"), { recursive: true });
    mkdirSync(join(parent, "settings_other_boot_1_1_x"));
    (await see(ofVersion("1"))).release();
    const owners = readdirSync(parent).map((name) => name.replace(/_[^_]*$/, ""));
    expect(owners.sort()).toEqual(["settings_machine_boot_1_2", "settings_other_boot_1_1"]);
  });

  test("are copied again when their folder is gone, and mounted where none can be made", async () => {
    (await see(ofVersion("1"))).release();
    rmSync(parent, { recursive: true });
    makeCopiesFolder(parent);
    (await see(ofVersion("1"))).release();
    expect(readdirSync(parent)).toHaveLength(1);
    rmSync(parent, { recursive: true });
    writeFileSync(parent, "");
    makeCopiesFolder(parent);
    expect((await see(ofVersion("1"))).mounts).toEqual([ofVersion("1")]);
  });
});

describe.runIf(process.platform === "linux")("processes with the marker of a command", () => {
  const before = countProcesses();

  function startMarked(marker: string) {
    const child = spawn("sleep", ["1000"], { env: { [markerName]: marker }, detached: true, stdio: "ignore" });
    return { child, ended: once(child, "exit") };
  }

  test.each<[string, (now: ProcessCount) => ProcessCount | undefined]>([
    ["among the numbers given since", (now) => now],
    ["where no count is known", () => undefined],
    ["where the numbers began anew", (now) => ({ ...now, last: now.last + 10_000_000 })],
    ["where so many were given that they can have begun anew", (now) => ({ ...now, given: now.given - 10_000_000 })],
    ["where the count of numbers stands still", (now) => ({ ...now, given: now.given + 10_000_000 })],
  ])("are ended %s", async (where, change) => {
    const now = countProcesses();
    const { ended } = startMarked(where);
    await endMarked(where, now && change(now));
    expect(await ended).toEqual([null, "SIGKILL"]);
  });

  test.skipIf(before === undefined)("are not looked for among older ones", async () => {
    const { child, ended } = startMarked("older");
    const now = countProcesses();
    await once(spawn("true"), "exit");
    await endMarked("older", now);
    child.kill("SIGTERM");
    expect(await ended).toEqual([null, "SIGTERM"]);
  });
});

test("folders of the machine are listed again when they change", () => {
  const folder = mkdtempSync(join(tmpdir(), "llm-do-known-"));
  try {
    for (const name of ["a", "b", "c"]) {
      writeFileSync(join(folder, name), "");
      expect(knownEntriesOf(folder).map((entry) => entry.name)).toContain(name);
    }
    expect(knownEntriesOf("/usr")).toBe(knownEntriesOf("/usr"));
    expect(knownEntriesOf(join(folder, "missing"))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the profile for macOS has the same mounts, the deepest last", () => {
  const mounts: Mount[] = [
    { kind: "hidden-file", path: "/p/.env" },
    { kind: "read-only", path: "/p/ro", source: "/p/ro" },
    { kind: "writable", path: '/p"\\', source: "/p" },
  ];
  const lines = createSeatbeltProfile(mounts, false).split("\n");
  expect(lines.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  expect(lines.slice(-6)).toEqual([
    '(allow file-read* file-write* (subpath "/p\\"\\\\"))',
    '(deny file-write-unlink (literal "/p\\"\\\\"))',
    '(deny file-read* file-write* (subpath "/p/.env"))',
    '(deny file-write* (subpath "/p/ro"))',
    '(allow file-read* (subpath "/p/ro"))',
    "",
  ]);
  expect(lines.join("\n")).not.toContain("network");
  expect(createSeatbeltProfile([], true)).toContain("(allow network-outbound");
});

test("the profile for macOS refuses to move a root, and the folders on the way to one in it", () => {
  const mounts: Mount[] = [
    { kind: "hidden-folder", path: "/p/sub/secret" },
    { kind: "writable", path: "/p/sub", source: "/p/sub" },
    { kind: "writable", path: "/p", source: "/p" },
  ];
  expect(createSeatbeltProfile(mounts, false).split("\n").slice(-6)).toEqual([
    '(allow file-read* file-write* (subpath "/p"))',
    '(deny file-write-unlink (literal "/p"))',
    '(allow file-read* file-write* (subpath "/p/sub"))',
    '(deny file-write-unlink (literal "/p/sub"))',
    '(deny file-read* file-write* (subpath "/p/sub/secret"))',
    "",
  ]);
});

test("the beginning and the end of an output take little memory for any size of its pieces", () => {
  const ends = new OutputEnds(10_001);
  for (let n = 0; n < 100_000; n++) ends.add(Buffer.from("é"));
  const text = `${"é".repeat(1000)}\n[190000 bytes are left out here]\n${"é".repeat(4000)}`;
  expect(ends.read()).toEqual({ text, dropped: 190_000 });
  const broken = new OutputEnds(4);
  broken.add(Buffer.from([0x41, 0x80, 0x80, 0x80, 0x80]));
  expect(broken.read()).toEqual({ text: "\ufffd".repeat(4), dropped: 1 });
});

test("an output of the limit is whole, and characters that a cut would part are left out", () => {
  const read = (limit: number, text: string) => {
    const ends = new OutputEnds(limit);
    for (const byte of Buffer.from(text)) ends.add(Buffer.from([byte]));
    return ends.read();
  };
  expect(read(1000, "é".repeat(500))).toEqual({ text: "é".repeat(500), dropped: 0 });
  for (const limit of [1001, 1002, 1003, 1004, 1009]) {
    const { text, dropped } = read(limit, "€😀".repeat(1000));
    expect(text).not.toContain("\ufffd");
    const kept = text.replace(/\n\[\d+ bytes are left out here\]\n/, "");
    expect(dropped).toBe(7000 - Buffer.byteLength(kept));
    expect(Buffer.byteLength(kept)).toBeGreaterThan(limit - 8);
  }
});
