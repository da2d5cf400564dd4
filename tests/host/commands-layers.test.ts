import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { noWall, useCommands } from "./command-bench.ts";

const noLayers = noWall !== "" ? noWall : (await createNodeHost().commands.layers?.()) ? "" : "this machine mounts no layers";
if (noLayers !== "") process.stderr.write(`\n*** LAYERS ARE NOT TESTED: ${noLayers} ***\n\n`);

/** A command that writes as it likes, of which nothing remains. */
describe.skipIf(noLayers !== "")("a command with layers", () => {
  const bench = useCommands({});
  const scratch = (line: string, asked: object = {}) =>
    bench.bash(line, { rights: { writes: [], reads: [], scratch: true }, ...asked });

  test("writes as it likes, and leaves nothing", async () => {
    bench.put("in/a.txt", "one\n");
    bench.put("in/deep/b.txt", "b\n");
    bench.put("in/package.json", "{}");
    const ran = await scratch(
      "echo two > a.txt; cat a.txt; rm -r deep; ls; mkdir -p new/empty; echo x > new/y; echo y > package.json; git init -q; ln -s / s; mkfifo p; chmod 777 .",
    );
    expect(ran).toMatchObject({ exitCode: 0, stdout: "two\na.txt\npackage.json\n", stderr: "" });
    expect(readdirSync(bench.at("in")).sort()).toEqual(["a.txt", "deep", "package.json"]);
    expect(bench.read("in/a.txt")).toBe("one\n");
    expect(statSync(bench.at("in")).mode & 0o777).toBe(0o755);
    for (const path of ["s/a.txt", "s/deep", "s/new/empty", "s/new/y", "s/package.json"]) expect(ran.thrownAway).toContain(path);
    expect((await scratch("cat a.txt; ls new")).stdout).toBe("one\n");
  });

  test("writes nothing outside, through links or by renaming", async () => {
    symlinkSync(bench.at("outside"), bench.at("in/link"));
    await scratch(
      `echo x > link/file; echo x > ../outside/new; mv ../outside o; echo x > ${bench.at("outside/new")}; mv ../in ../gone`,
    );
    expect(readdirSync(bench.at("outside"))).toEqual(["file"]);
    expect(readdirSync(bench.at("")).sort()).toEqual(["in", "outside"]);
  });

  test("shows each scope by its rights, and read-only ones as layers, too", async () => {
    bench.put("in/ro/x", "x\n");
    bench.put("in/secret/key", "canary\n");
    bench.put("in/sub/.env", "canary\n");
    const scopes = await bench.open([
      {},
      { name: "ro", root: bench.at("in/ro"), mode: "ro" },
      { name: "secret", root: bench.at("in/secret"), readApproval: true },
    ]);
    const ran = await scratch(
      "echo y > ro/x; cat ro/x; cat secret/key sub/.env; mv sub moved; mv secret other; cat moved/.env other/key",
      { scopes },
    );
    expect(ran.stdout).toBe("y\n");
    expect(ran.thrownAway).toContain("ro/x");
    expect(bench.read("in/ro/x")).toBe("x\n");
    expect(existsSync(bench.at("in/sub/.env"))).toBe(true);
  });

  test("fails where a folder is full, and ends with its exit code", async () => {
    expect((await scratch("head -c 1200000000 /dev/zero > big")).stderr).toContain("No space left");
    expect(await scratch("exit 7")).toMatchObject({ exitCode: 7 });
    expect(await scratch("kill -9 $$")).toMatchObject({ exitCode: 137 });
  });

  test("leaves no process, and no mount, when its time is over", async () => {
    const started = performance.now();
    const ran = await scratch("echo x > a; (sleep 60 &); sleep 60", { timeoutMilliseconds: 500 });
    expect(ran).toMatchObject({ timedOut: true, thrownAway: ["s/a"] });
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(existsSync(bench.at("in/a"))).toBe(false);
  });

  test("starts in the folder that it names", async () => {
    mkdirSync(bench.at("in/deep"));
    expect((await scratch("echo x > y; pwd", { cwd: "s/deep" })).stdout).toBe(`${bench.at("in/deep")}\n`);
    expect(readdirSync(bench.at("in/deep"))).toEqual([]);
  });
});
