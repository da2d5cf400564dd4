import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { prepareWork } from "../../src/toolsets/shell/prepare-work.ts";
import { createRandom } from "../host/seeded.ts";
import { bash, Machine } from "./machine.ts";

/* Names that take a glob's place are those that bash would put there. */

const machine = new Machine();
afterAll(() => machine.remove());

const names = [
  "a",
  "b.ts",
  "ab.ts",
  ".h",
  ".h.ts",
  "a b",
  "c=d",
  "-x",
  "it's",
  "dir",
  "dir/a",
  "dir/b.ts",
  "dir/.h",
  "dir/sub/a.ts",
];
const more = ["deep", "deep/a", "deep/b.ts", "deep/-y", "deep/sub/b.ts", "deep/sub/sub/a", "ü.md"];
const pieces = ["*", "?", "a", "b", ".ts", "-", "'*'", "' '", "\\?", "d", "sub", "**", ".h"];

async function expand(pattern: string, cwd: string): Promise<readonly string[] | undefined> {
  const host = createNodeHost({ workingDirectory: machine.root });
  const scopes = await host.openScopes([{ name: ".", root: join(machine.root, "work"), mode: "rw" }], {
    programFiles: [],
    programFolder: machine.root,
  });
  const commands = {
    isolation: async () => ({ type: "bubblewrap" as const }),
    which: async () => undefined,
    run: async () => {
      throw new Error("not here");
    },
  };
  const config = { rules: [{ pattern: "*", approval_required: false }] };
  try {
    const args = { command: `mytool ${pattern}`, cwd };
    const work = await prepareWork({ args, config }, scopes, { commands, networkEnabled: false });
    return work.request.type === "argv" ? work.request.argv.slice(1) : undefined;
  } finally {
    await scopes.close();
  }
}

test("are those that bash puts there", async () => {
  for (const name of [...names, ...more]) if (!/^(?:dir|deep)$/.test(name)) machine.put(`work/${name}`, "x");
  const random = createRandom("globs");
  const pick = () => pieces[Math.floor(random() * pieces.length)] ?? "";
  const component = () => Array.from({ length: 1 + Math.floor(random() * 3) }, pick).join("");
  let expanded = 0;
  for (let round = 0; round < 400; round++) {
    const folders = Array.from({ length: Math.floor(random() * 3) }, () => (random() < 0.5 ? "dir" : component()));
    const pattern = [...(random() < 0.3 ? ["."] : []), ...folders, component(), ...(random() < 0.2 ? [""] : [])].join("/");
    const cwd = random() < 0.7 ? "." : "deep";
    const judged = await expand(pattern, cwd);
    if (judged === undefined || !/[*?]/.test(pattern)) continue;
    const environment = { PATH: "/usr/bin:/bin", LC_ALL: "C" };
    const { stdout } = await machine.run([...bash, `printf '%s\\0' ${pattern}`], { cwd: join("work", cwd), environment });
    expect(judged, pattern).toEqual(stdout.toString().split("\0").slice(0, -1));
    expanded++;
  }
  expect(expanded).toBeGreaterThan(150);
}, 60_000);
