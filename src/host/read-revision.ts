import { execFile, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { errorMessage } from "../util/text/error-message.ts";
import { isWithin } from "../util/within.ts";

/** Most bytes of all files of a revision. */
const largest = 200_000_000;

/**
 * Writes the files that a folder had at a revision into another folder. Reads git's objects and nothing else: no checkout, no filter, no
 * hook, no network. Links and submodules are left out. Rejects with an `Error` that says what git said.
 */
export async function readRevision(folder: string, revision: string, to: string): Promise<void> {
  const files = (await listRevision(folder, revision)).filter(({ path }) => !path.split("/").includes("node_modules"));
  if (files.reduce((sum, { size }) => sum + size, 0) > largest) throw new Error("the revision has more than 200 MB of files");
  const contents = await readObjects(folder, files);
  const targets = files.map(({ path }) => ({ path, target: join(to, ...path.split("/")) }));
  // A tree that nothing checked can hold entries such as `..`.
  const outside = targets.find(({ path, target }) => target === to || !isWithin(target, to) || path.split("/").includes(".git"));
  if (outside) throw new Error(`the revision holds a file with a path that git refuses: ${outside.path}`);
  for (const [index, { target }] of targets.entries()) {
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, contents[index] ?? "", { flag: "wx" });
  }
}

interface RevisionFile {
  readonly object: string;
  readonly size: number;
  readonly path: string;
}

async function listRevision(folder: string, revision: string): Promise<readonly RevisionFile[]> {
  if (revision.startsWith("-")) throw new Error(`\`${revision}\` is no revision`);
  const prefix = (await git(folder, ["rev-parse", "--show-prefix"])).trimEnd();
  const tree = await git(folder, ["rev-parse", "--verify", "--end-of-options", `${revision}:${prefix}`]).catch((thrown) => {
    throw new Error(`git has no folder ${prefix || "."} at the revision \`${revision}\`: ${errorMessage(thrown)}`);
  });
  // Without --full-tree git takes the working folder for a path inside of the tree.
  const listed = await git(folder, ["ls-tree", "--full-tree", "-r", "-z", "--long", tree.trim()]);
  return listed.split("\0").flatMap((line) => {
    const [, mode, object = "", size = "", path = ""] = /^(\d+) blob ([0-9a-f]+) +(\S+)\t(.+)$/s.exec(line) ?? [];
    if (mode === undefined || mode === "120000") return [];
    if (!/^\d+$/.test(size)) throw new Error(`git has not fetched the file ${path} of the revision`);
    return [{ object, size: Number(size), path }];
  });
}

const environment = { ...process.env, GIT_NO_LAZY_FETCH: "1", GIT_TERMINAL_PROMPT: "0", GIT_OPTIONAL_LOCKS: "0" };

async function git(folder: string, args: readonly string[]): Promise<string> {
  const options = { cwd: folder, env: environment, maxBuffer: 64_000_000, timeout: 30_000 };
  const { stdout } = await promisify(execFile)("git", ["--no-replace-objects", ...args], options).catch((thrown) => {
    throw new Error(String(thrown.stderr || thrown.message).trim());
  });
  return stdout;
}

async function readObjects(folder: string, files: readonly RevisionFile[]): Promise<readonly Buffer[]> {
  const child = spawn("git", ["--no-replace-objects", "cat-file", "--batch"], {
    cwd: folder,
    env: environment,
    stdio: ["pipe", "pipe", "ignore"],
  });
  child.stdin.end(files.map(({ object }) => `${object}\n`).join(""));
  const chunks: Buffer[] = [];
  for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
  const whole = Buffer.concat(chunks);
  let at = 0;
  return files.map(({ object, size }) => {
    const start = whole.indexOf(10, at) + 1;
    if (!whole.subarray(at, start).toString().startsWith(`${object} blob ${size}`))
      throw new Error(`git has no object ${object}`);
    at = start + size + 1;
    return whole.subarray(start, start + size);
  });
}
