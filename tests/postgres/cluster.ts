import { execFile, execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { globSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll } from "vitest";

const run = promisify(execFile);

/** The newest PostgreSQL of this machine; undefined where there is none. */
const binaries = globSync("/usr/lib/postgresql/*/bin/initdb")
  .sort()
  .at(-1)
  ?.replace(/\/initdb$/, "");

export const hasPostgres: boolean = binaries !== undefined;

interface Cluster extends AsyncDisposable {
  readonly url: string;
  psql(text: string): Promise<string>;
  /** Ends the server at once, as a power cut does, and starts it again. */
  restart(): Promise<void>;
}

/** A cluster for the tests of a file or of a `describe`. */
export function useCluster() {
  let cluster: Cluster | undefined;
  const running = () => {
    if (!cluster) throw new Error("the cluster has not started");
    return cluster;
  };
  beforeAll(async () => {
    cluster = await startCluster();
  }, 120_000);
  afterAll(async () => cluster?.[Symbol.asyncDispose](), 120_000);
  return {
    /** Of the database that is always there. */
    url: () => running().url,
    psql: (text: string) => running().psql(text),
    restart: () => running().restart(),
    /** Creates a database. Resolves with its address. */
    async create(options = ""): Promise<string> {
      const name = `t${randomUUID().replaceAll("-", "")}`;
      await running().psql(`CREATE DATABASE ${name} ${options}`);
      return running().url.replace(/postgres$/, name);
    },
  };
}

/** The database refuses to run as root. */
function asUser(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string) => Number(execFileSync("id", [flag, "nobody"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A cluster of its own, in a folder that goes with it. */
async function startCluster(): Promise<Cluster> {
  const user = asUser();
  const folder = await mkdtemp(join(tmpdir(), "llm-do-postgres-"));
  if (user.uid !== undefined && user.gid !== undefined) await chown(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const port = await freePort();
  const options = { ...user, cwd: folder, env: { PATH: process.env["PATH"] ?? "", LC_ALL: "C.UTF-8" } };
  const call = (program: string, ...args: readonly string[]) => run(join(binaries ?? "", program), [...args], options);
  await call("initdb", "-D", data, "-U", "test", "--auth=trust", "-N", "-E", "UTF8");
  const settings = `-p ${port} -k ${folder} -c listen_addresses=127.0.0.1`;
  const control = (action: string) =>
    call("pg_ctl", "-D", data, "-o", settings, "-w", "-m", "immediate", "-l", join(folder, "log"), action);
  await control("start");
  return {
    url: `postgres://test:not-needed@127.0.0.1:${port}/postgres`,
    psql: async (text) =>
      (await call("psql", "-h", "127.0.0.1", "-p", String(port), "-U", "test", "-At", "-c", text, "postgres")).stdout,
    restart: async () => void (await control("restart")),
    async [Symbol.asyncDispose]() {
      await control("stop").catch(() => undefined);
      await rm(folder, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}
