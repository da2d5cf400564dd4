import { execFile } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { NotIsolated } from "../../src/host/commands.ts";
import { ScopeError } from "../../src/host/scopes/scopes.ts";
import { standsAs } from "../../src/host/wall/mount-table.ts";
import { noWall, useCommands } from "./command-bench.ts";

/** renameat2(2) with `RENAME_EXCHANGE`, as a command of another run can call it. */
const exchange = process.arch === "arm64" ? 276 : 316;
const exchanging = `my ($from, $to) = ("d", "link"); while (getppid() == $ARGV[0]) { syscall(${exchange}, -100, $from, -100, $to, 2) }`;

describe.skipIf(noWall !== "")("folders that another process swaps for links", () => {
  const bench = useCommands({});

  test("give no command a place to write in that it was not given", async () => {
    for (const folder of ["out/d", "sub"]) mkdirSync(bench.at(`in/${folder}`), { recursive: true });
    symlinkSync("../sub", bench.at("in/out/link"));
    const swapping = execFile("perl", ["-e", exchanging, `${process.pid}`], { cwd: bench.at("in/out") });
    try {
      for (let count = 0; count < 100 && !existsSync(bench.at("in/sub/x")); count++) {
        try {
          const rights = { writes: [bench.scopes.resolve("s/out/d")], reads: [] };
          await bench.bash("touch out/d/x out/link/x sub/x", { rights });
        } catch (error) {
          if (!(error instanceof NotIsolated || error instanceof ScopeError)) throw error;
        }
      }
    } finally {
      expect(swapping.pid).toBeDefined();
      expect(swapping.exitCode).toBe(null);
      swapping.kill("SIGKILL");
    }
    expect(existsSync(bench.at("in/sub/x"))).toBe(false);
  });
});

describe("the kernel's table of mounts", () => {
  const bind = (kind: "writable" | "read-only", path: string) => ({ kind, path, source: path, descriptor: 5 }) as const;
  const mounts = [
    { kind: "read-only", path: "/usr", source: "/usr" },
    { kind: "empty", path: "/tmp" },
    bind("read-only", "/w/p q"),
    bind("writable", "/w/p q/out/d"),
    bind("read-only", "/w/p q/out/d/package.json"),
  ] as const;
  const rows = {
    top: "1 0 0:30 /newroot / ro,nosuid - tmpfs tmpfs rw",
    proc: "2 1 0:31 / /proc rw - proc proc rw",
    usr: "3 1 8:1 /usr /usr ro - ext4 /dev/sda rw",
    tmp: "4 1 0:32 / /tmp rw - tmpfs tmpfs rw",
    p: "5 1 8:2 /vol/p\\040q /w/p\\040q ro - ext4 /dev/sdb rw",
    d: "6 5 8:2 /vol/p\\040q/out/d /w/p\\040q/out/d rw - ext4 /dev/sdb rw",
    json: "7 6 8:2 /vol/p\\040q/out/d/package.json /w/p\\040q/out/d/package.json ro - ext4 /dev/sdb rw",
  };
  const stands = (changed: Partial<Record<keyof typeof rows | "more", string>>) =>
    standsAs(mounts, Object.values({ ...rows, ...changed }).join("\n"));

  test("is right where each mount is at its path", () => {
    expect(stands({})).toBe(true);
    expect(stands({ more: "8 5 8:9 / /w/p\\040q/disk ro - ext4 /dev/sdc rw" })).toBe(true);
    expect(stands({ more: "8 6 8:9 / /w/p\\040q/out/d/disk rw - ext4 /dev/sdc rw" })).toBe(true);
  });

  test.each([
    ["at another path", { d: rows.d.replaceAll("out/d", "sub") }],
    ["missing", { d: "" }],
    ["also elsewhere", { more: "8 5 8:2 /vol/p\\040q/sub /w/p\\040q/sub rw - ext4 /dev/sdb rw" }],
    ["writable though it is not meant to be", { json: rows.json.replace(" ro ", " rw ") }],
    ["over another folder", { d: rows.d.replace("q/out/d ", "q/out/dl ") }],
    ["over another file", { json: rows.json.replace("d/package.json ", "other/package.json ") }],
    ["over a file that is gone", { json: rows.json.replace("package.json ", "package.json//deleted ") }],
  ])("is wrong where one is %s", (_, changed) => {
    expect(stands(changed)).toBe(false);
  });
});
