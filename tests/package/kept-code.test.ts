import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { rolldown } from "rolldown";
import { expect, onTestFinished, test } from "vitest";

const repository = resolve(import.meta.dirname, "../..");
const execute = promisify(execFile);

/** An installed package, and a state folder of its own. */
async function createPlace() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "llm-do-kept-")));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const installed = join(root, "node_modules/llm-do");
  const state = join(root, "state");
  return {
    root,
    installed,
    state,
    install: async () => {
      for (const name of ["dist", "package.json"])
        await cp(join(repository, name), join(installed, name), {
          recursive: true,
          filter: (path) => !/\.(map|d\.ts)$/.test(path),
        });
      await symlink(join(repository, "node_modules"), join(installed, "node_modules"));
    },
    /** Runs a module beside the package. */
    run: async (code: string, env: Record<string, string> = {}) => {
      const base = { PATH: process.env["PATH"], HOME: root, LLM_DO_STATE_DIR: state };
      const args = ["--input-type=module", "--eval", code];
      const { stdout, stderr } = await execute(process.execPath, args, { cwd: root, env: { ...base, ...env } });
      expect(stderr).toBe("");
      return stdout.trim();
    },
    /** The files of compiled code, with the time when each was written. */
    kept: async () => {
      const [folder = ""] = await readdir(join(state, "compile-cache"));
      const names = await readdir(join(state, "compile-cache", folder));
      const paths = names.map((name) => join(state, "compile-cache", folder, name));
      return Promise.all(paths.map(async (path) => ({ path, at: (await stat(path)).mtimeMs })));
    },
  };
}

const refused = `import { compile } from "llm-do";
console.log(await compile({ target: ".", files: ["a"] }).catch((error) => error.message));`;
const message = "`target` and `files` exclude one another";
const compiled = `import { compile } from "llm-do";
const { diagnostics } = await compile({ target: "." });
console.log(diagnostics.length);`;

test("the first scripts of the library keep compiled code, each with the functions that it called, and further ones use it", async () => {
  const { run, kept, install } = await createPlace();
  await install();
  expect(await run(refused)).toBe(message);
  const [{ path } = { path: "" }, ...others] = await kept();
  expect(path).toMatch(/core-[\w-]+\.js\.bin$/);
  expect(others).toEqual([]);
  const { mode, size } = await stat(path);
  expect((mode & 0o777).toString(8)).toBe("600");
  await run(compiled);
  expect((await stat(path)).size).toBeGreaterThan(size * 1.1);
  for (let writes = 2; writes < 8; writes++) await run(refused);
  const last = await kept();
  await run(compiled);
  expect(await kept()).toEqual(last);
  expect((await stat(path)).size).toBeGreaterThan(size * 1.1);
});

test("compiled code that is damaged is not used, and written anew", async () => {
  const { run, kept, install } = await createPlace();
  await install();
  await run(refused);
  const [{ path } = { path: "" }] = await kept();
  const whole = await readFile(path);
  await writeFile(path, whole.subarray(0, whole.length / 2));
  expect(await run(refused)).toBe(message);
  expect((await stat(path)).size).toBeGreaterThan(whole.length * 0.9);
});

test("a chunk that was changed runs as it is now", async () => {
  const { run, kept, install, installed } = await createPlace();
  await install();
  await run(refused);
  const [{ path } = { path: "" }] = await kept();
  const chunk = join(installed, "dist/chunks", path.replace(/.*\/|\.bin$/g, ""));
  const text = await readFile(chunk, "utf8");
  await writeFile(chunk, text.replace(message, message.toUpperCase()));
  expect(await run(refused)).toBe(message.toUpperCase());
});

test("nothing is kept where Node's cache is off, and where nothing can be written", async () => {
  const { run, install, state } = await createPlace();
  await install();
  expect(await run(refused, { NODE_DISABLE_COMPILE_CACHE: "1" })).toBe(message);
  await expect(readdir(state)).rejects.toThrow("ENOENT");
  await writeFile(state, "");
  expect(await run(refused)).toBe(message);
  expect(await run(compiled, { NODE_DISABLE_COMPILE_CACHE: "1" })).toBe(await run(compiled));
});

test("the file that loads a chunk exports what the chunk does", async () => {
  const { run } = await createPlace();
  const exported = (folder: string) =>
    run(`import { readdirSync } from "node:fs";
const names = readdirSync(${JSON.stringify(join(repository, "dist/kept"))}).filter((name) => name.endsWith(".js"));
const all = names.map(async (name) => [name, Object.entries(await import(${JSON.stringify(join(repository, "dist", folder))} + "/" + name))]);
for (const [name, values] of await Promise.all(all)) console.log(name, ...values.map(([name, value]) => name + ":" + typeof value));`);
  const loaders = await exported("kept");
  expect(loaders.split("\n").length).toBeGreaterThan(10);
  expect(loaders).toBe(await exported("chunks"));
});

test("a bundler takes the modules themselves", async () => {
  const { root } = await createPlace();
  await writeFile(join(root, "app.js"), `export * from ${JSON.stringify(join(repository, "dist/index.js"))};`);
  const bundle = await rolldown({ input: join(root, "app.js"), platform: "node", external: /^[a-z@]/ });
  const { output } = await bundle.generate();
  const ids = output.flatMap((one) => (one.type === "chunk" ? one.moduleIds : []));
  expect(ids.filter((id) => id.includes("/dist/chunks/core-"))).toHaveLength(1);
  expect(ids.filter((id) => id.includes("/dist/kept/"))).toEqual([]);
});
