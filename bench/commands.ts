// What a command costs with the wall and without, and what protected names add: `node bench/commands.ts`.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeHost } from "../src/host/node-host.ts";
import { measure, printRow } from "./timing.ts";

const hosts = [createNodeHost({ wall: true }), createNodeHost({ wall: false })] as const;
console.log(JSON.stringify(await hosts[0].commands.isolation()));
printRow("command", "with the wall, ms", "without, ms");
printRow("---", "---", "---");
await compare("`true`", { type: "argv", argv: ["true"] });
await compare("`bash -c true`", { type: "bash", script: "true" });
for (const names of [30, 120, 480]) await compare(`\`true\`, ${names} protected files`, { type: "argv", argv: ["true"] }, names);

/** In a folder with so many folders, each with a protected file. */
async function compare(label: string, command: Parameters<typeof run>[1], names = 0): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "llm-do-bench-"));
  for (let index = 0; index < names; index++) {
    mkdirSync(join(root, `part-${index}`));
    writeFileSync(join(root, `part-${index}/package.json`), "{}");
  }
  const rounds = names > 100 ? 10 : 50;
  const [walled, bare] = [
    await run({ host: hosts[0], root, rounds }, command),
    await run({ host: hosts[1], root, rounds }, command),
  ];
  printRow(label, walled, bare);
  rmSync(root, { recursive: true });
}

interface Place {
  readonly host: ReturnType<typeof createNodeHost>;
  readonly root: string;
  readonly rounds: number;
}

async function run(
  { host, root, rounds }: Place,
  command: { readonly type: "argv"; readonly argv: readonly string[] } | { readonly type: "bash"; readonly script: string },
): Promise<number> {
  const scopes = await host.openScopes([{ name: "s", root, mode: "rw" }]);
  const limits = { timeoutMilliseconds: 60_000, maxOutputBytes: 50_000, signal: new AbortController().signal };
  const request = { command, scopes, cwd: scopes.resolve("s"), network: false, isolationRequired: false, ...limits };
  const { least } = await measure(rounds, () => host.commands.run(request));
  await scopes.close();
  return least;
}
