import { join } from "node:path";
import { expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { fork, replay, resume, run } from "../../src/index.ts";
import { World } from "../security/world.ts";

/** A model that is out until there is a file `up` beside it. */
const script = `import { existsSync } from "node:fs";
const up = new URL("up", import.meta.url);
export default () => { if (existsSync(up)) return "done"; throw new Error("outage"); };
`;
const approval = { mode: "reject_all" } as const;

/** A run of a program whose model fails, by a script that the request named. Gives its record, and a host of another working directory. */
async function failedRun(request: object = {}) {
  const world = new World({
    "main.worker": "---\nsandbox: { paths: {} }\n---\nGo.\n",
    "other.worker": "---\nsandbox: { paths: {} }\n---\nGo elsewhere.\n",
    "script.mjs": script,
  });
  const environment = { PATH: process.env["PATH"], LLM_DO_STATE_DIR: world.at("state") };
  const hostAt = (folder: string) =>
    createNodeHost({ environment, workingDirectory: world.at(folder), homeDirectory: world.at("home") });
  world.put("elsewhere/x", "");
  const host = hostAt("program");
  const failed = await run({
    target: ".",
    input: "x",
    model: "scripted:script.mjs",
    approval,
    trust: true,
    host,
    ...request,
  }).catch((thrown: { run?: { runId: string } }) => thrown);
  const id = "run" in failed ? (failed.run?.runId ?? "") : "";
  expect(id).not.toBe("");
  const records = world.files("state").filter((path) => path.endsWith("journal.jsonl"));
  const directory = world.at(join("state", records[0] ?? "", ".."));
  world.put("program/up", "");
  return { world, host: hostAt("elsewhere"), id, directory };
}

test.each(["run", "directory"] as const)("`resume` takes program and options from the record, by its `%s`", async (key) => {
  const { host, id, directory } = await failedRun();
  const reference = key === "run" ? { run: id } : { directory };
  const { output } = await resume({ ...reference, approval, trust: true, host });
  expect(output).toBe("done");
  expect((await replay({ ...reference, trust: true, host })).result?.output).toBe("done");
  expect((await fork({ ...reference, approval, trust: true, host })).output).toBe("done");
});

test("a run of files is resumed with these", async () => {
  const { host, id } = await failedRun({ target: undefined, files: ["other.worker"] });
  expect((await resume({ run: id, approval, trust: true, host })).output).toBe("done");
});

test("a script of the record needs trust: it is a word of the program", async () => {
  const { host, id } = await failedRun();
  await expect(resume({ run: id, approval, host })).rejects.toMatchObject({ name: "UntrustedProgram" });
});

test("options of the request hold over those of the record", async () => {
  const { world, host, id } = await failedRun();
  world.put("elsewhere/second.mjs", 'export default () => "second";\n');
  const model = `scripted:${world.at("elsewhere/second.mjs")}`;
  expect((await resume({ run: id, approval, trust: true, host, model })).output).toBe("second");
});
