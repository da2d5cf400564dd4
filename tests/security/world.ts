import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { type ApprovalPolicy, type RunEvent, type RunOutput, type RunRequest, run } from "../../src/index.ts";
import type { ToolResultPart } from "../../src/protocol/message.ts";
import { type Script, type ScriptedCall, type ScriptedModel, scriptedModel } from "../../src/testing/index.ts";

/** Content outside of every scope: it must be in no result, and stay as it is. */
export const canary = "canary: nobody may read or change this";

/** A folder of this machine's real disk, with a program in `program` and a canary in `outside/file`. Gone after the test. */
export class World {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-security-")));

  constructor(files: Readonly<Record<string, string>>) {
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
    this.put("outside/file", canary);
    for (const [path, text] of Object.entries(files)) this.put(`program/${path}`, text);
  }

  at(path: string): string {
    return join(this.root, path);
  }

  put(path: string, text: string): void {
    mkdirSync(dirname(this.at(path)), { recursive: true });
    writeFileSync(this.at(path), text);
  }

  read(path: string): string {
    return readFileSync(this.at(path), "utf8");
  }

  /** Regular files below a folder, no link followed; the journals of runs are left out. */
  files(folder: string): string[] {
    const found = readdirSync(this.at(folder), { withFileTypes: true }).flatMap((entry) => {
      if (entry.isDirectory() && entry.name !== ".llm-do")
        return this.files(join(folder, entry.name)).map((name) => join(entry.name, name));
      return entry.isFile() ? [entry.name] : [];
    });
    return found.sort();
  }

  /**
   * Every file outside of the program, with what it holds. The program's own may change meanwhile. True copies of the machine's settings,
   * which commands see in the place of these, are left out.
   */
  outside(): Record<string, string> {
    const folders = readdirSync(this.root).filter((name) => name !== "program");
    const names = folders.flatMap((folder) => this.files(folder).map((name) => join(folder, name)));
    return Object.fromEntries(names.filter((name) => !this.isTrueCopy(name)).map((name) => [name, this.read(name)]));
  }

  private isTrueCopy(name: string): boolean {
    const original = /^state\/private\/settings\/[^/]+(\/etc\/.*)/.exec(name)?.[1];
    return original !== undefined && readFileSync(original, "utf8") === this.read(name);
  }
}

/** `outside()` of a world in which nothing happened. */
export const untouched = { "outside/file": canary };

export const approveAll: ApprovalPolicy = { mode: "approve_all" };

export interface Attack {
  /** Calls of the model, turn by turn; or a function that plays it. */
  readonly model: readonly (readonly ScriptedCall[])[] | Script;
  /** Default: everything that asks is approved. */
  readonly approval?: ApprovalPolicy;
  readonly environment?: Readonly<Record<string, string>>;
  readonly request?: Partial<RunRequest>;
}

export interface Attacked {
  readonly result: RunOutput | undefined;
  readonly error: unknown;
  readonly events: readonly RunEvent[];
  /** Results that the model got, call by call. */
  readonly results: readonly ToolResultPart[];
  readonly scripted: ScriptedModel;
}

/** Runs the world's program on the real machine, its model played by the attacker. */
export async function attack(
  world: World,
  { model, approval = approveAll, environment = {}, request = {} }: Attack,
): Promise<Attacked> {
  const results: ToolResultPart[] = [];
  const play: Script =
    typeof model === "function"
      ? model
      : ({ turn, toolResults }) => {
          results.push(...toolResults());
          const calls = model[turn - 1];
          return calls ? { calls } : "done";
        };
  const scripted = scriptedModel(play, "test:model");
  const events: RunEvent[] = [];
  const host = createNodeHost({
    environment: { PATH: process.env["PATH"], LLM_DO_STATE_DIR: world.at("state"), ...environment },
    workingDirectory: world.at("program"),
    homeDirectory: world.at("home"),
  });
  let result: RunOutput | undefined;
  let error: unknown;
  try {
    result = await run({
      target: world.at("program"),
      input: "go",
      approval,
      host,
      trust: true,
      journal: false,
      model: "test:model",
      providers: [{ name: "test", description: "for tests", keyVariables: [], create: async () => scripted }],
      onEvent: (event) => events.push(event),
      ...request,
    });
  } catch (thrown) {
    error = thrown;
  }
  return { result, error, events, results, scripted };
}

/** `ok`, or the type of the error. */
export function outcome({ result }: ToolResultPart): string {
  return result.ok ? "ok" : result.error.type;
}

export function worker(frontmatter: string): string {
  return `---\n${frontmatter.trim()}\n---\nDo it.\n`;
}

export interface Listener {
  readonly port: number;
  readonly heard: () => number;
}

/** A server of this machine that counts who connects. */
export async function listen(): Promise<Listener> {
  let heard = 0;
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    heard++;
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.end("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 6\r\nconnection: close\r\n\r\ncanary");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as { port: number }).port, heard: () => heard };
}
