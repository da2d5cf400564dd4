// What a command costs with the wall and without: `node bench/commands.ts [FOLDER]`.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeHost } from "../src/host/node-host.ts";

const rounds = 50;
const own = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
const root = process.argv[2] ?? own;

for (const wall of [true, false]) {
  const host = createNodeHost({ wall });
  const began = performance.now();
  const isolation = await host.commands.isolation();
  console.log(`${JSON.stringify(isolation)}: found in ${(performance.now() - began).toFixed(1)} ms`);
  const scopes = await host.openScopes([{ name: "s", root, mode: "rw" }]);
  const request = { scopes, cwd: scopes.resolve("s"), network: false, isolationRequired: false };
  const limits = { timeoutMilliseconds: 10_000, maxOutputBytes: 50_000, signal: new AbortController().signal };
  for (const command of [{ type: "argv", argv: ["true"] } as const, { type: "bash", script: "true" } as const]) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const start = performance.now();
      await host.commands.run({ ...request, ...limits, command });
      times.push(performance.now() - start);
    }
    times.sort((a, b) => a - b);
    const [least, median] = [times[0] ?? 0, times[rounds / 2] ?? 0];
    console.log(`  ${command.type}: least ${least.toFixed(1)} ms, median ${median.toFixed(1)} ms`);
  }
  await scopes.close();
}
rmSync(own, { recursive: true });
