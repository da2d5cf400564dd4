import { fork, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CommandResult } from "../../src/host/commands.ts";
import { noWall, testPath } from "./command-bench.ts";

/* Folders that their owner may not list or enter. For root there are none: as root, these tests play as another user. */

const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const canRead = `require("node:fs").accessSync(${JSON.stringify(join(import.meta.dirname, "fixtures/run-command.js"))})`;
const noUser = spawnSync(process.execPath, ["-e", canRead], user).status === 0 ? "" : "no other user reads this folder";
if (noUser !== "") process.stderr.write(`\n*** LOCKED FOLDERS ARE NOT TESTED: ${noUser} ***\n\n`);
const modes = [0o000, 0o111, 0o311, 0o444, 0o666];
const nameOf = (mode: number) => `p${mode.toString(8)}`;

describe.skipIf(noWall !== "" || noUser !== "")("a folder that cannot be looked into", () => {
  let root = "";
  beforeEach(() => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-locked-")));
    const own = (path: string) => user.uid !== undefined && chownSync(path, user.uid, user.gid);
    const make = (path: string) => {
      mkdirSync(join(root, path), { recursive: true });
      own(join(root, path));
    };
    const put = (path: string, text: string) => {
      writeFileSync(join(root, path), text);
      own(join(root, path));
    };
    own(root);
    for (const path of ["state", "in", "in/node_modules", "in/node_modules/.bin"]) make(path);
    for (const mode of modes) {
      for (const path of [`in/${nameOf(mode)}`, `in/${nameOf(mode)}/sub`]) make(path);
      for (const path of [".env", ".envrc", "plain", "sub/.env"]) put(`in/${nameOf(mode)}/${path}`, `CANARY ${path}`);
      chmodSync(join(root, "in", nameOf(mode)), mode);
    }
  });
  afterEach(() => {
    for (const mode of modes) chmodSync(join(root, "in", nameOf(mode)), 0o700);
    rmSync(root, { recursive: true, force: true });
  });

  const folders = modes.map(nameOf);
  const reading = folders.map((name) => `cat ${name}/.env ${name}/sub/.env ${name}/plain; cd ${name}/sub; cd ~-; ls -A ${name}`);

  test("is hidden whole from a look, which is told", async () => {
    const { stdout, locked, isolated } = await run({
      script: [...reading, "echo done"].join("\n"),
      rights: { writes: [], reads: [] },
    });
    expect({ stdout, locked, isolated }).toEqual({
      stdout: "done\n",
      locked: folders.map((name) => `s/${name}`),
      isolated: true,
    });
  });

  test("is hidden from a command that writes, takes the right, or moves what is around it", async () => {
    const opening = folders.map((name) => `chmod -R u+rwx ${name}; mv ${name}/.env ${name}/e; mv ${name} ${name}.moved`);
    const script = [
      ...opening,
      "mkdir m; mv p* m",
      ...reading,
      ...reading.map((line) => line.replaceAll(/\bp(?=\d)/g, "m/p")),
      "echo x > new",
    ];
    const { stdout, movedAside } = await run({ script: script.join("\n") });
    expect({ stdout, movedAside }).toEqual({ stdout: "", movedAside: [] });
    expectUntouched();
    expect(readFileSync(join(root, "in/new"), "utf8")).toBe("x\n");
  });

  test("keeps its files as they are where nothing isolates, too", async () => {
    const script = folders.map((name) => `chmod 755 ${name}`).join("; ");
    expect(await run({ script, wall: false })).toMatchObject({ exitCode: 0, movedAside: [] });
    expectUntouched();
  });

  test("is one whose root lost its mode: nothing runs", async () => {
    writeFileSync(join(root, "in/.env"), "CANARY");
    await expect(run({ script: "cat .env", rootMode: 0o111 })).rejects.toThrow('"s" cannot be searched');
  });

  test("that the command made is unlocked, and what it brought is moved aside", async () => {
    const made = modes.map(
      (mode) => `mkdir n${nameOf(mode)}; echo x > n${nameOf(mode)}/.envrc; chmod ${mode.toString(8)} n${nameOf(mode)}`,
    );
    const { movedAside } = await run({ script: made.join("\n") });
    expect([...movedAside].sort()).toEqual(modes.map((mode) => `s/n${nameOf(mode)}/.envrc`));
  });

  function expectUntouched(): void {
    for (const mode of modes) {
      chmodSync(join(root, "in", nameOf(mode)), 0o700);
      for (const path of [".env", ".envrc", "plain", "sub/.env"])
        expect(readFileSync(join(root, "in", nameOf(mode), path), "utf8")).toBe(`CANARY ${path}`);
    }
  }

  function run(asked: Readonly<Record<string, unknown>>): Promise<CommandResult> {
    const child = fork(
      join(import.meta.dirname, "fixtures/run-command.js"),
      [JSON.stringify({ root: join(root, "in"), wall: true, ...asked })],
      { ...user, execArgv: [], cwd: "/", env: { PATH: testPath, HOME: root, LLM_DO_STATE_DIR: join(root, "state") } },
    );
    return new Promise((resolve, reject) => {
      child.once("message", (message: { readonly error?: string } & CommandResult) => {
        if (message.error === undefined) resolve(message);
        else reject(new Error(message.error));
      });
      child.once("exit", (code) => reject(new Error(`it ended with ${code}`)));
    });
  }
});
