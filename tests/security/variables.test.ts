import { expect, test } from "vitest";
import { attack, World } from "./world.ts";

const secret = "canary-of-the-users-environment";
const environment = { DATABASE_PASS: secret };

test("gives no variable of the environment to built-in toolsets, or to models", async () => {
  const world = new World({
    "main.worker":
      "---\nsandbox: { paths: { w: { root: ./w, mode: rw } } }\ntoolsets: { shell: { rules: [{ pattern: 'echo ${DATABASE_PASS}' }] } }\n---\nGo.\n",
  });
  const { scripted, error } = await attack(world, { model: [], environment });
  expect(error).toBeUndefined();
  const sent = JSON.stringify(scripted.requests);
  expect(sent).not.toContain(secret);
  expect(sent).toContain("echo ${DATABASE_PASS}");
});

test("gives a variable of the environment to a toolset of code", async () => {
  const world = new World({
    "main.worker":
      "---\nsandbox: { paths: { w: { root: ./w, mode: rw } } }\ntoolsets: { mine: { key: '${DATABASE_PASS}' } }\n---\nGo.\n",
    "tools.ts": `import { tool, toolset } from "llm-do";
const ping = tool({ name: "ping", description: "x", input: { type: "object" }, approval: "pre-approved", run: () => given });
let given = "";
export const mine = toolset({ name: "mine", config: { type: "object" }, tools: (config) => { given = config.key; return [ping]; } });
`,
  });
  const { scripted, results } = await attack(world, { model: [[{ tool: "ping", args: {} }]], environment });
  expect(JSON.stringify(scripted.requests[0])).not.toContain(secret);
  expect(results[0]?.result).toEqual({ ok: true, value: secret });
});
