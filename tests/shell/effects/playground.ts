import { execFileSync } from "node:child_process";
import {
  chmodSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ScopeDeclaration } from "../../../src/host/scopes/scopes.ts";
import type { Place } from "./play-line.ts";
import { hostileFiles, plainFiles, tokens } from "./playground-files.ts";

/** A fresh tree with canaries, and ears for what leaves the wall. */
export interface Playground extends Place {
  /** Holds `work`, which is the program's folder, `outside` and `home`. */
  readonly root: string;
  /** A port of 127.0.0.1 where something listens. */
  readonly port: number;
  /** Returns what reached a listener, a socket or a FIFO since the last call. */
  heard(): readonly string[];
  remove(): Promise<void>;
}

/** The parent's environment, with a secret in it. */
export const environment = {
  PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
  ANTHROPIC_API_KEY: tokens.environment,
  USER: "ada",
};

/** Names of the scopes, and their roots below `root`. */
const roots: readonly (Omit<ScopeDeclaration, "root"> & { readonly folder: string })[] = [
  { name: ".", folder: "work", mode: "rw" },
  { name: "docs", folder: "work/docs", mode: "ro" },
  { name: "out", folder: "work/out", mode: "rw" },
  { name: "secret", folder: "work/secret", mode: "rw", readApproval: true, writeApproval: true },
  { name: "free", folder: "work/free", mode: "rw", writeApproval: false },
  { name: "notes", folder: "work/out/notes", mode: "rw", suffixes: [".md"] },
  { name: "small", folder: "work/small", mode: "rw", maxFileBytes: 10 },
];

export async function createPlayground(): Promise<Playground> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-effects-")));
  const put = (path: string, content: string, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), mode);
  };
  for (const [path, content] of Object.entries(plainFiles)) put(path, content);
  makeRepositories(join(root, "work"));
  for (const [path, content] of Object.entries(hostileFiles)) put(path, content, 0o755);
  symlinkSync("/etc/passwd", join(root, "work/link"));
  symlinkSync("../secret", join(root, "work/src/to-secret"));
  symlinkSync("../../outside", join(root, "work/out/to-outside"));
  const heard: string[] = [];
  const fifos = ["work/fifo", "work/node_modules/fifo"].map((path) => listenToFifo(join(root, path)));
  const listener = await listen(createServer(), { port: 0, host: "127.0.0.1" }, () => heard.push("TCP"));
  const { port } = listener.address() as { port: number };
  const socket = await listen(createHttpServer(), { path: join(root, "work/socket") }, () => heard.push("a Unix socket"));
  return {
    root,
    scopes: roots.map(({ folder, ...scope }) => ({ ...scope, root: join(root, folder) })),
    home: join(root, "home"),
    programFiles: [join(root, "work/main.worker"), join(root, "work/tools.ts")],
    programFolder: join(root, "work"),
    port,
    heard: () => [...heard.splice(0), ...fifos.flatMap((read) => read())],
    remove: async () => {
      for (const server of [listener, socket]) await new Promise((resolve) => server.close(resolve));
      execFileSync("chmod", ["-R", "u+rwX", root]);
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function listen(server: Server, at: { port: number; host: string } | { path: string }, tell: () => void): Promise<Server> {
  server.on("connection", (socket) => {
    tell();
    socket.destroy();
  });
  return new Promise((resolve) => server.listen(at, () => resolve(server)));
}

/** Opened for both ends: a command that writes to it is not kept waiting. */
function listenToFifo(path: string): () => readonly string[] {
  execFileSync("mkfifo", [path]);
  const descriptor = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  return () => {
    try {
      return [`the FIFO ${path}: ${readSync(descriptor, Buffer.alloc(4096))} bytes`];
    } catch {
      return [];
    }
  };
}

const gitVariables = { GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", HOME: "/nonexistent", PATH: environment.PATH };

/**
 * A repository with two commits, a submodule and a configuration that starts programs; `vault`, whose index names a file that hides;
 * `evil.git`, a bare one that would like to be entered.
 */
function makeRepositories(work: string): void {
  const git = (folder: string, line: string) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always", ...line.split(" ")], {
      cwd: join(work, folder),
      env: gitVariables,
      stdio: "ignore",
    });
  git(".", "init -q -b main");
  git(".", "add README.md notes.txt src docs/a.md");
  git(".", "commit -qm one");
  git(".", "branch topic");
  git(".", "add package.json scripts");
  git(".", "commit -qm two");
  git(".", "tag v1.0");
  git("vault", "init -q -b main");
  git("vault", "add -f .env readme.md");
  git("vault", "commit -qm vault");
  git("other", "init -q -b main");
  git("other", "add a");
  git("other", "commit -qm evil");
  // Of two links to a file, one that is removed changes the times of both.
  git(".", "clone -q --bare --no-hardlinks other evil.git");
  git(".", "submodule -q add ./other sub");
  git(".", "commit -qm sub");
  execFileSync("tar", ["-cf", "a.tar", "README.md"], { cwd: work });
  execFileSync("tar", ["-cPf", "evil.tar", "README.md", "../outside/file"], { cwd: work });
}
