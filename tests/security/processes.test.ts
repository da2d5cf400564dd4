import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { copyExample, slowScripted, startCli } from "../cli/run-cli.ts";
import { attack, World, worker } from "./world.ts";

/** Sockets that some process of these accepts connections on: TCP of both families, and those of this machine. */
function listening(pids: readonly number[]): string[] {
  const own = new Set(
    pids.flatMap((pid) =>
      readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
        try {
          return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
        } catch {
          return [];
        }
      }),
    ),
  );
  const rows = (file: string) => readFileSync(`/proc/${pids[0]}/net/${file}`, "utf8").split("\n").slice(1);
  const ofIp = ["tcp", "tcp6"]
    .flatMap(rows)
    .filter((row) => row.trim().split(/\s+/)[3] === "0A" && own.has(row.trim().split(/\s+/)[9] ?? ""));
  const bound = ["udp", "udp6"].flatMap(rows).filter((row) => own.has(row.trim().split(/\s+/)[9] ?? ""));
  const acceptsConnections = 0x10000;
  const local = rows("unix").filter((row) => {
    const [, , , flags = "0", , , inode = ""] = row.trim().split(/\s+/);
    return (Number.parseInt(flags, 16) & acceptsConnections) !== 0 && own.has(inode);
  });
  return [...ofIp, ...bound, ...local];
}

function descendants(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number);
  return [pid, ...children.flatMap(descendants)];
}

describe.runIf(process.platform === "linux")("no port is open", { timeout: 60_000 }, () => {
  test("accepts no connection during a run with three children", async () => {
    const cwd = await copyExample();
    const args = [".", "--model", slowScripted, "--approve-all", "-v"];
    const running = startCli(args, { cwd, env: { SLOW_MILLISECONDS: "700" } });
    for (const text of ["main starts", "pitch_evaluator#1 starts", "pitch_evaluator#3 starts"]) {
      await running.stderrHolds(text);
      expect(listening(descendants(running.child.pid ?? 0))).toEqual([]);
    }
    expect((await running.result).exitCode).toBe(0);
  });

  test("detects an open port", async () => {
    const { createServer } = await import("node:net");
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    expect(listening([process.pid])).toHaveLength(1);
    server.close();
  });
});

describe("one budget holds for the whole tree", () => {
  const pass = (callee: string) =>
    `description: d\ntoolsets: { filesystem: {}, ${callee}: { _approval_config: { ${callee}: { pre_approved: true } } } }`;
  const files = {
    "main.worker": worker(pass("a")),
    "a.worker": worker(pass("b")),
    "b.worker": worker("description: d\ntoolsets: { filesystem: {} }"),
  };
  const next: Readonly<Record<string, string>> = { main: "a", a: "b" };

  test.each([6, 20])("makes no more files than %i calls allow, however deep they are nested", async (allowed) => {
    const world = new World(files);
    let number = 0;
    let requests = 0;
    const { result } = await attack(world, {
      // Every worker writes a file in each turn and calls the next one: without the budget there would be no end.
      model: ({ worker: name }) => {
        requests++;
        const write = { tool: "write_file", args: { path: `made/${number++}`, content: "x" } };
        const callee = next[name];
        return { calls: callee ? [write, { tool: callee, args: { input: "go" } }] : [write, write] };
      },
      request: { limits: { tool_calls: allowed, turns: 1000 } },
    });
    expect(result?.stopReason).toBe("limit");
    const made = world.files("program").filter((name) => name.startsWith("made/"));
    expect(made.length).toBeGreaterThan(0);
    expect(made.length).toBeLessThanOrEqual(allowed);
    expect(requests).toBeLessThan(allowed * 4 + 10);
  });

  test("counts the tokens of children's requests", async () => {
    const world = new World(files);
    let spent = 0;
    const { result } = await attack(world, {
      model: ({ worker: name, settings }) => {
        const outputTokens = Math.min(100, settings.max_output_tokens ?? 100);
        spent += outputTokens + 100;
        const callee = next[name];
        const call = callee ? { tool: callee, args: { input: "go" } } : { tool: "list_files", args: {} };
        return { calls: [call], usage: { inputTokens: 100, outputTokens } };
      },
      request: { limits: { tokens: 5000, turns: 1000 } },
    });
    expect(result?.stopReason).toBe("limit");
    expect(spent).toBeGreaterThan(1000);
    expect(spent).toBeLessThanOrEqual(5000);
  });
});
