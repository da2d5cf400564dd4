import type { CommandRequest, CommandResult, Commands, Isolation } from "../../src/host/commands.ts";
import type { ScopeDeclaration } from "../../src/host/scopes/scopes.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import type { ShellWork } from "../../src/toolsets/shell/access.ts";
import type { ShellConfig } from "../../src/toolsets/shell/config.ts";
import { createShellToolset } from "../../src/toolsets/shell/shell.ts";
import type { OwnVerdict, WorkerRuntime } from "../../src/toolsets/toolset.ts";

export interface BenchOptions {
  readonly isolation?: Isolation;
  readonly networkEnabled?: boolean;
  readonly unisolated?: boolean;
  readonly result?: Partial<CommandResult>;
  readonly scopes?: readonly ScopeDeclaration[];
}

const declared: readonly ScopeDeclaration[] = [
  { name: ".", root: "/work", mode: "rw" },
  { name: "docs", root: "/work/docs", mode: "ro" },
  { name: "out", root: "/work/out", mode: "rw" },
  { name: "secret", root: "/work/secret", mode: "rw", readApproval: true, writeApproval: true },
  { name: "free", root: "/work/free", mode: "rw", writeApproval: false },
  { name: "notes", root: "/work/out/notes", mode: "rw", suffixes: [".md"] },
  { name: "small", root: "/work/small", mode: "rw", maxFileBytes: 10 },
];

const files = {
  "/work/main.worker": "x",
  "/work/tools.ts": "x",
  "/work/package.json": "{}",
  "/work/README.md": "x",
  "/work/notes.txt": "x",
  "/work/src/index.ts": "x",
  "/work/src/util/a.ts": "x",
  "/work/scripts/build.sh": "x",
  "/work/docs/a.md": "x",
  "/work/docs/deep/b.md": "x",
  "/work/out/old.txt": "x",
  "/work/secret/key.txt": "x",
  "/work/free/a.txt": "x",
  "/work/out/notes/a.md": "x",
  "/work/small/a.txt": "x",
  "/work/.git/config": "[core]\n\tbare = false\n",
  "/work/.git/HEAD": "ref: refs/heads/main\n",
  "/work/.git/objects/info/packs": "",
  "/work/.git/refs/heads/main": "",
  "/work/.env": "x",
  "/work/link": { link: "/etc/passwd" },
  "/work/docs/link": { link: "../../etc" },
  "/etc/passwd": "x",
};

const standardResult: CommandResult = {
  exitCode: 0,
  stdout: "",
  stderr: "",
  dropped: { stdout: 0, stderr: 0 },
  timedOut: false,
  isolated: true,
  movedAside: [],
  tooDeep: [],
};

/** Prepares, judges and runs a call as the gate does, without asking anybody. Programs are not started. */
export async function createBench(config: ShellConfig, options: BenchOptions = {}) {
  const host = memoryHost({ files });
  const scopes = await host.openScopes(options.scopes ?? declared, {
    programFiles: ["/work/main.worker", "/work/tools.ts"],
    programFolder: "/work",
  });
  const requests: CommandRequest[] = [];
  const commands: Commands = {
    isolation: async () => options.isolation ?? { type: "bubblewrap" },
    which: async (name) => `/usr/bin/${name}`,
    run: async (request) => {
      requests.push(request);
      return { ...standardResult, ...options.result };
    },
  };
  const toolset = createShellToolset({ commands });
  const { networkEnabled = false, unisolated = false } = options;
  const seen = { readable: scopes.readable(), writable: scopes.writable() };
  const [tool] = toolset.tools(config, { worker: "w", ...seen, networkEnabled });
  if (tool === undefined) throw new Error("no tool");
  const signal = new AbortController().signal;
  const prepare = async (given: JsonObject) => {
    const checked = await tool.input.validate(given);
    if (!checked.ok) throw new Error(`invalid: ${JSON.stringify(checked.issues)}`);
    const call = { tool: "shell", args: checked.value as JsonObject, config };
    const preparation = await toolset.prepare?.(call, {
      scopes,
      signal,
      caller: { name: "w", depth: 0, maxDepth: 1 },
      networkEnabled,
      unisolated,
    });
    if (preparation === undefined) throw new Error("no preparation");
    return { ...call, args: preparation.canonicalArgs, preparation, work: preparation.payload as ShellWork };
  };
  const judge = async (given: JsonObject) => toolset.needsApproval?.(await prepare(given)) as OwnVerdict;
  const run = async (given: JsonObject) => {
    const call = await prepare(given);
    return (await tool.execute(
      call.args,
      { scopes, signal } as unknown as WorkerRuntime,
      call.preparation.payload,
    )) as JsonObject;
  };
  return { host, scopes, toolset, tool, requests, prepare, judge, run };
}

/** `allowed`, `ask` (by a rule), `ask-effects`, `ask-default`, `blocked`. */
export type VerdictName = "allowed" | "ask" | "ask-effects" | "ask-default" | "blocked";

export function nameOf(verdict: OwnVerdict): VerdictName {
  if (verdict.type === "pre-approved") return "allowed";
  if (verdict.type === "blocked") return "blocked";
  return verdict.by === "rule" ? "ask" : `ask-${verdict.by}`;
}
