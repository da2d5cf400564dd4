import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { ScopeDeclaration } from "../../src/host/scopes.ts";
import { prepareWork } from "../../src/toolsets/shell/prepare-work.ts";
import { createHostileFolder } from "./hostile-folder.ts";
import { bash, type Machine } from "./machine.ts";
import { readVerdicts } from "./read-verdicts.ts";
import { ruleSets } from "./rule-sets.ts";

/*
 * Every attack of the tables is played on a real disk with a real shell. With the verdict as the gate nothing may happen;
 * without it many must, or the tests could not fail.
 */

const tables = ["bypasses.txt", "structure.txt", "programs.txt"];
const attacks = readVerdicts().filter(({ place }) => tables.some((table) => place.startsWith(`${table}:`)));

/** Programs that must not be started on the machine that tests. */
const tooMuch = [
  "sudo",
  "systemctl",
  "reboot",
  "curl",
  "ssh",
  "npm",
  "npx",
  "docker",
  "date -s",
  "go ",
  "cargo",
  "watch",
  "rm -rf /",
];
const playable = attacks.filter(({ command }) => !tooMuch.some((one) => command.includes(one)) && !command.includes("\0"));

const machines: Machine[] = [];
afterAll(() => {
  for (const machine of machines) machine.remove();
});

function setUp(): Machine {
  const machine = createHostileFolder();
  machines.push(machine);
  return machine;
}

function environmentOf(machine: Machine): Record<string, string> {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: join(machine.root, "work/home"),
    LANG: "C.UTF-8",
    PAGER: "cat",
    GIT_PAGER: "cat",
    x: "touch canary",
  };
}

async function prepare(machine: Machine, command: string, rules: string) {
  const host = createNodeHost({ workingDirectory: machine.root });
  const root = join(machine.root, "work");
  const declarations: ScopeDeclaration[] = [
    { name: ".", root, mode: "rw" },
    { name: "docs", root: join(root, "docs"), mode: "ro" },
    { name: "out", root: join(root, "out"), mode: "rw" },
  ];
  const scopes = await host.openScopes(declarations, { programFiles: [join(root, "main.worker")], programFolder: root });
  const config = ruleSets[rules] ?? { rules: [] };
  const commands = {
    isolation: async () => ({ type: "bubblewrap" as const }),
    which: async () => undefined,
    run: async () => {
      throw new Error("not here");
    },
  };
  try {
    const work = await prepareWork({ args: { command }, config }, scopes, { commands, networkEnabled: false });
    return { work, verdict: work.verdict };
  } finally {
    await scopes.close();
  }
}

test("touches nothing and opens no connection where it is allowed", async () => {
  const listener = createServer((socket) => socket.destroy());
  let connections = 0;
  listener.on("connection", () => connections++);
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as { port: number };
  const machine = setUp();
  const before = machine.snapshot();
  const touched: string[] = [];
  let played = 0;
  for (const { place, command, rules } of playable) {
    const text = command.replaceAll("127.0.0.1/9", `127.0.0.1/${port}`);
    const { work, verdict } = await prepare(machine, text, rules);
    if (verdict.type !== "pre-approved") continue;
    played++;
    const argv = work.request.type === "argv" ? work.request.argv : [...bash, work.request.script];
    await machine.run(argv, { cwd: "work", environment: environmentOf(machine) });
    if (JSON.stringify(machine.snapshot()) !== JSON.stringify(before)) touched.push(place);
  }
  listener.close();
  expect(played).toBeGreaterThan(40);
  expect(touched).toEqual([]);
  expect(connections).toBe(0);
}, 120_000);

/** So many show that the folder is one in which harm can be seen. */
const enough = 40;

test("does harm without the gate", async () => {
  const harmful: string[] = [];
  const chosen = playable.filter(
    ({ command, verdict }) => verdict !== "allowed" && (command.includes("canary") || command.includes("evil")),
  );
  const machine = setUp();
  const before = JSON.stringify(Object.keys(machine.snapshot()).filter((name) => !name.includes(".git/")));
  for (const { place, command } of chosen) {
    if (harmful.length === enough) break;
    await machine.run([...bash, command], { cwd: "work", environment: environmentOf(machine) });
    const after = Object.keys(machine.snapshot()).filter((name) => !name.includes(".git/"));
    if (JSON.stringify(after) === before) continue;
    harmful.push(place);
    for (const name of after)
      if (!before.includes(JSON.stringify(name))) await machine.run(["rm", "-rf", name], { environment: environmentOf(machine) });
  }
  expect(harmful.length).toBe(enough);
}, 120_000);
