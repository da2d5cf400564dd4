import { existsSync, mkdirSync, readdirSync, renameSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { ScopeDeclaration, Scopes } from "../../src/host/scopes/scopes.ts";
import { canary, noWall, testPath, useCommands } from "./command-bench.ts";
import { start } from "./swapping.ts";

const inner = "in the nested scope";

type Rights = Partial<ScopeDeclaration>;

describe.skipIf(noWall !== "")("the wall, with a scope nested deeper in a writable one", () => {
  const bench = useCommands({});
  /** It writes in the outer scope alone. */
  const closed = (scopes: Scopes) => ({ rights: { writes: [scopes.resolve("s")], reads: [] } });

  /** Opens a scope at `in/PATH`, which holds a file, in one at `in`. */
  const nest = (path: string, rights: Rights) => {
    bench.put(`in/${path}/file`, inner);
    return bench.open([{}, { name: "nested", root: bench.at(`in/${path}`), ...rights }]);
  };

  const kinds: readonly [string, Rights, (scopes: Scopes) => object][] = [
    ["hidden", { readApproval: true }, closed],
    ["read-only", { mode: "ro" }, () => ({})],
    ["one that asks before it is written", { writeApproval: true }, closed],
  ];
  const paths = ["sub/root", "sub/deep/root"];
  const cases = kinds.flatMap(([kind, rights, asked]) => paths.map((path) => ({ kind, rights, asked, path })));

  test.each(cases)("keeps the folders above $kind, $path, where they are", async ({ rights, asked, path }) => {
    const scopes = await nest(path, rights);
    const above = path.split("/").slice(0, -1);
    const folders = above.map((_, index) => above.slice(0, index + 1).join("/"));
    for (const folder of folders) {
      const moved = await bench.bash(`mv ${folder} ${folder}2`, { scopes, ...asked(scopes) });
      expect(moved.stderr, folder).toContain("Device or resource busy");
      // The next command sees the root closed, at any path that the first one could have given it.
      const next = "find . -name file -exec cat {} +; find . -name root -exec sh -c 'echo x > {}/new; echo x > {}/file' ';'";
      const { stdout } = await bench.bash(next, { scopes, ...asked(scopes) });
      expect(stdout, folder).toBe("readApproval" in rights ? "" : inner);
    }
    expect(readdirSync(bench.at("in"))).toEqual(["sub"]);
    expect(readdirSync(bench.at(`in/${path}`))).toEqual(["file"]);
    expect(bench.read(`in/${path}/file`)).toBe(inner);
  });

  test("leaves ordinary work in these folders alone", async () => {
    const scopes = await nest("sub/deep/root", { readApproval: true });
    bench.put("in/sub/old", "old\n");
    bench.put("in/sub/.env", canary);
    bench.put("in/top", "top\n");
    const script = `set -e; cd sub; echo a > a; mv a b; mkdir -p folder; echo c > folder/c; mv folder other; mv other/c deep/c
      rm old; mv ../top deep/top; rm -r other; cat b deep/c deep/top; ls deep
      cat .env && exit 2; echo x > .env && exit 3; ln b deep/b || echo linked by none`;
    const { stdout, exitCode } = await bench.bash(script, { scopes, ...closed(scopes) });
    expect([stdout, exitCode]).toEqual(["a\nc\ntop\nc\nroot\ntop\nlinked by none\n", 0]);
    expect(readdirSync(bench.at("in/sub")).sort()).toEqual([".env", "b", "deep"]);
    expect((await bench.bash("pwd; echo x > new", { scopes, ...closed(scopes), cwd: "s/sub/deep" })).stdout).toBe(
      `${bench.at("in/sub/deep")}\n`,
    );
    expect(bench.read("in/sub/deep/new")).toBe("x\n");
  });

  test("shows no protected name on the way to it", async () => {
    const scopes = await nest("sub/.git/deep/root", { readApproval: true });
    bench.put("in/sub/.git/description", canary);
    const script =
      "mv sub sub2; echo x > sub/.git/description; echo x > sub/.git/new; echo x > sub/.git/deep/new; cat sub/.git/description";
    expect((await bench.bash(script, { scopes, ...closed(scopes) })).stdout).toBe(canary);
    expect(readdirSync(bench.at("in/sub/.git")).sort()).toEqual(["deep", "description"]);
    expect(readdirSync(bench.at("in/sub/.git/deep"))).toEqual(["root"]);
  });

  test("opens no folder of a read-only scope", async () => {
    bench.put("in/sub/root/file", inner);
    const nested = { name: "nested", root: bench.at("in/sub/root"), readApproval: true };
    const scopes = await bench.open([{ mode: "ro" }, nested]);
    const { stdout } = await bench.bash("echo x > sub/new; mv sub sub2; cat sub/root/file; echo done", {
      scopes,
      rights: { writes: [], reads: [] },
    });
    expect([stdout, readdirSync(bench.at("in")), readdirSync(bench.at("in/sub"))]).toEqual(["done\n", ["sub"], ["root"]]);
  });

  test("holds no folder of a root that has the rights around it", async () => {
    const script = "mv sub sub2";
    const scopes = await nest("sub/root", { readApproval: true });
    expect((await bench.bash(script, { scopes })).exitCode).toBe(0);
  });

  test("keeps the folders above keys and tokens where they are", async () => {
    const secrets = [".local/state/llm-do/credentials.json", ".kube/config", ".config/rclone/x", ".local/share/keyrings/x"];
    for (const name of secrets) bench.put(`home/${name}`, canary);
    bench.put("home/.kept/file", "mine");
    bench.host = createNodeHost({ environment: { PATH: testPath }, homeDirectory: bench.at("home") });
    const scopes = await bench.open([{ root: bench.at("home") }]);
    await bench.bash("for name in .local/share .local/state .local .config .kube .kept; do mv $name ${name}2; done", { scopes });
    const script = "cat .local*/*/llm-do/* .local*/*/keyrings/* .kube*/* .config*/rclone/* .kept2/file; echo x > .local/new";
    expect((await bench.bash(script, { scopes })).stdout).toBe("mine");
    expect(readdirSync(bench.at("home")).sort()).toEqual([".config", ".kept2", ".kube", ".local"]);
    expect(bench.read("home/.local/new")).toBe("x\n");
  });

  test("runs nothing where a root is not in its place", async () => {
    const scopes = await nest("sub/root", { readApproval: true });
    renameSync(bench.at("in/sub"), bench.at("in/sub2"));
    const refusal = { name: "ScopeError", type: "changed" };
    await expect(bench.bash("cat sub2/root/file > copy", { scopes, ...closed(scopes) })).rejects.toMatchObject(refusal);
    expect(readdirSync(bench.at("in"))).toEqual(["sub2"]);
    mkdirSync(bench.at("in/sub/root"), { recursive: true });
    await expect(bench.bash("cat sub2/root/file > copy", { scopes, ...closed(scopes) })).rejects.toMatchObject(refusal);
    expect(existsSync(bench.at("in/copy"))).toBe(false);
  });

  test.each(["in/moved", "outside/sub"])("mounts no folder that a link leads to: %s", async (target) => {
    const scopes = await nest("sub/root", { mode: "ro" });
    renameSync(bench.at("in/sub"), bench.at(target));
    symlinkSync(bench.at(target), bench.at("in/sub"));
    const running = bench.bash("cat sub/root/file; echo x > sub/new; echo x > ran", { scopes });
    await expect(running).rejects.toMatchObject({ name: "ScopeError", type: "path_outside_scope" });
    expect(readdirSync(bench.at(target))).toEqual(["root"]);
    expect(existsSync(bench.at("in/ran"))).toBe(false);
  });

  test("mounts the folder that was opened, or nothing, while a link takes its place", { timeout: 120_000 }, async () => {
    const scopes = await nest("sub/root", { readApproval: true });
    bench.put("in/sub/own", "inside");
    bench.put("outside/sub/own", canary);
    mkdirSync(bench.at("outside/sub/root"));
    const child = await start("swap.js", bench.at("in/sub"), bench.at("outside/sub"));
    try {
      for (let n = 0, ran = 0; n < 30 || ran === 0; n++) {
        const result = await bench.bash("cat sub/own; echo x > sub/new", { scopes, ...closed(scopes) }).catch(() => undefined);
        expect(["inside", "", undefined]).toContain(result?.stdout);
        if (result?.stdout === "inside") ran++;
      }
    } finally {
      child.kill("SIGKILL");
    }
    expect(readdirSync(bench.at("outside/sub")).sort()).toEqual(["own", "root"]);
    expect(readdirSync(bench.at("outside/sub/root"))).toEqual([]);
  });
});
