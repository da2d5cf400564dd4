import { describe, expect, test } from "vitest";
import { type Mount, orderMounts } from "../../src/host/command/mount.ts";
import { OutputTail } from "../../src/host/command/output-tail.ts";
import { createSeatbeltProfile } from "../../src/host/command/seatbelt.ts";
import { createSeccompFilter } from "../../src/host/command/seccomp.ts";
import { isWithin } from "../../src/host/within.ts";

describe("the filter of system calls", () => {
  const x64 = 0xc000003e;
  const socket = (family: number) => ({ architecture: x64, call: 41, first: family });

  test.each([
    ["read", { architecture: x64, call: 0, first: 0 }, true, true],
    ["the last call of all", { architecture: x64, call: 460, first: 0 }, true, true],
    ["keyctl", { architecture: x64, call: 250, first: 0 }, false, false],
    ["io_uring_setup", { architecture: x64, call: 425, first: 0 }, false, false],
    ["AF_UNIX", socket(1), true, false],
    ["AF_INET", socket(2), true, true],
    ["AF_INET6", socket(10), true, true],
    ["AF_NETLINK", socket(16), true, true],
    ["AF_VSOCK", socket(40), false, false],
    ["AF_ALG", socket(38), false, false],
    ["socketpair of AF_UNIX", { architecture: x64, call: 53, first: 1 }, true, true],
    ["a 32-bit program", { architecture: 0x40000003, call: 0, first: 0 }, false, false],
    ["x32", { architecture: x64, call: 0x40000000 + 41, first: 2 }, false, false],
  ])("%s", (_, call, without, withNetwork) => {
    expect([false, true].map((network) => allows(createSeccompFilter("x64", network) ?? new Uint8Array(), call))).toEqual([
      without,
      withNetwork,
    ]);
  });

  test("other processors have numbers of their own, or no filter", () => {
    const filter = createSeccompFilter("arm64", true) ?? new Uint8Array();
    expect(allows(filter, { architecture: 0xc00000b7, call: 198, first: 1 })).toBe(false);
    expect(allows(filter, { architecture: 0xc00000b7, call: 198, first: 2 })).toBe(true);
    expect(createSeccompFilter("riscv64", true)).toBeUndefined();
  });

  /** The few instructions of the kernel's machine that we use. */
  function allows(filter: Uint8Array, call: { architecture: number; call: number; first: number }): boolean {
    const view = new DataView(filter.buffer, filter.byteOffset, filter.length);
    const facts = new Map([
      [0, call.call],
      [4, call.architecture],
      [16, call.first],
    ]);
    let loaded = 0;
    for (let at = 0; at < filter.length; at += 8) {
      const value = view.getUint32(at + 4, true);
      const code = view.getUint16(at, true);
      if (code === 0x20) loaded = facts.get(value) ?? Number.NaN;
      else if (code === 0x06) return value === 0x7fff0000;
      else at += 8 * view.getUint8(at + ((code === 0x15 ? loaded === value : loaded >= value) ? 2 : 3));
    }
    throw new Error("it has no end");
  }
});

describe("mounts", () => {
  test("come from the outside in; of two at one path the later counts", () => {
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

  test("within is meant by components", () => {
    expect([
      isWithin("/a/b", "/a"),
      isWithin("/a", "/a"),
      isWithin("/ab", "/a"),
      isWithin("/a/..b", "/a"),
      isWithin("/", "/a"),
    ]).toEqual([true, true, false, true, false]);
  });
});

test("a profile for macOS says the same, the deepest last", () => {
  const mounts: Mount[] = [
    { kind: "hidden-file", path: "/p/.env" },
    { kind: "read-only", path: "/p/ro", source: "/p/ro" },
    { kind: "writable", path: '/p"\\', source: "/p" },
  ];
  const lines = createSeatbeltProfile(mounts, false).split("\n");
  expect(lines.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  expect(lines.slice(-5)).toEqual([
    '(allow file-read* file-write* (subpath "/p\\"\\\\"))',
    '(deny file-read* file-write* (subpath "/p/.env"))',
    '(deny file-write* (subpath "/p/ro"))',
    '(allow file-read* (subpath "/p/ro"))',
    "",
  ]);
  expect(lines.join("\n")).not.toContain("network");
  expect(createSeatbeltProfile([], true)).toContain("(allow network-outbound");
});

test("the tail of an output takes little memory, however small its pieces are", () => {
  const tail = new OutputTail(10_000);
  for (let n = 0; n < 100_000; n++) tail.add(Buffer.from("é"));
  expect(tail.read()).toEqual({ text: "é".repeat(5000), dropped: 190_000 });
  const broken = new OutputTail(4);
  broken.add(Buffer.from([0x41, 0x80, 0x80, 0x80, 0x80]));
  expect(broken.read()).toEqual({ text: "\ufffd".repeat(4), dropped: 1 });
});
