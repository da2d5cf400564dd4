import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type * as workflowParser from "@actions/workflow-parser";
import type * as actionParser from "@actions/workflow-parser/actions/action-parser";
import { validate } from "dockerfile-utils";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { bin, cleanEnvironment } from "../cli/run-cli.ts";

/* The action and the image for a job at night: read by the parsers of their hosts, and their commands run here. */

const root = resolve(import.meta.dirname, "../..");
const folder = mkdtempSync(join(tmpdir(), "llm-do-nightly-"));
const program = join(folder, "triage");
const actionText = readFileSync(join(root, "action.yml"), "utf8");
const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");

beforeAll(() => {
  cpSync(join(root, "templates/triage"), program, { recursive: true });
  // `npx --no-install llm-do` is the built command.
  writeFileSync(join(folder, "npx"), `#!/bin/sh\nshift 2\nexec '${process.execPath}' '${bin}' "$@"\n`);
  chmodSync(join(folder, "npx"), 0o755);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default: string }>>;
  readonly runs: { readonly steps: readonly { readonly env?: Record<string, string>; readonly run?: string }[] };
}

/** Runs the step of the action as a runner would: with its inputs in the variables that it declares. */
function runStep(name: string, given: Readonly<Record<string, string>>) {
  const { inputs, runs } = parse(actionText) as Action;
  const step = runs.steps.find(({ run }) => run !== undefined);
  const values = Object.entries(step?.env ?? {}).map(([variable, text]) => {
    const value = text.replace(/\$\{\{ inputs\.(\S+) \}\}/, (_, input: string) => given[input] ?? inputs[input]?.default ?? "?");
    return [variable, value];
  });
  const files = { output: join(folder, `${name}.output`), summary: join(folder, `${name}.summary`) };
  for (const file of Object.values(files)) writeFileSync(file, "");
  const env = {
    ...cleanEnvironment(folder),
    PATH: `${folder}:${process.env["PATH"]}`,
    RUNNER_TEMP: folder,
    GITHUB_OUTPUT: files.output,
    GITHUB_STEP_SUMMARY: files.summary,
    ...Object.fromEntries(values),
  };
  // As a runner starts `shell: bash`.
  const args = ["--noprofile", "--norc", "-eo", "pipefail", "-c", step?.run ?? "exit 99"];
  const { status, stderr } = spawnSync("bash", args, { cwd: program, encoding: "utf8", env, input: "" });
  return { status, stderr, output: readFileSync(files.output, "utf8"), summary: readFileSync(files.summary, "utf8") };
}

/** GitHub's parser imports JSON in a way that Node does not take: it is bundled first. */
async function loadParser(): Promise<typeof workflowParser & typeof actionParser> {
  const input = join(folder, "parser.js");
  writeFileSync(
    input,
    'export * from "@actions/workflow-parser";\nexport * from "@actions/workflow-parser/actions/action-parser";\n',
  );
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
  const bundle = await rolldown({ input, platform: "node", logLevel: "silent" });
  await bundle.write({ file: join(folder, "parser.mjs") });
  await bundle.close();
  return import(join(folder, "parser.mjs"));
}

test("the action has the form that GitHub's parser takes, and a wrong one has not", async () => {
  const { NoOperationTraceWriter, parseAction } = await loadParser();
  const errorsOf = (content: string) =>
    parseAction({ name: "action.yml", content }, new NoOperationTraceWriter()).context.errors.getErrors();
  expect(errorsOf(actionText).map(({ message }) => message)).toEqual([]);
  expect(errorsOf(actionText.replace("using: composite", "using: composit"))).not.toEqual([]);
  expect(errorsOf(actionText.replace("shell: bash", "shel: bash"))).not.toEqual([]);
});

test("the action passes where the run waits, and shows what for", () => {
  const model = { model: "scripted:script.yaml" };
  const said = runStep("held", { ...model, prompt: "Today; touch $(echo stolen) `touch stolen`", flags: "--quiet\n\n" });
  expect(said, said.stderr).toMatchObject({
    status: 0,
    output: `result=${folder}/llm-do.json\nexit-code=4\n`,
    summary: expect.stringContaining("replies/login.md"),
  });
  expect(JSON.parse(readFileSync(join(folder, "llm-do.json"), "utf8"))).toMatchObject({ stopReason: "suspended" });
  expect(readdirSync(join(folder, "llm-do-store"))).toHaveLength(1);
  expect(readdirSync(program)).not.toContain("stolen");
  const done = runStep("done", { ...model, flags: "--approve\nmain/write_file(replies/*)" });
  expect(done).toMatchObject({ status: 0, output: expect.stringContaining("exit-code=0"), summary: "" });
});

test("the action fails where the run fails", () => {
  expect(runStep("failed", { model: "scripted:missing.yaml" })).toMatchObject({
    status: 2,
    output: expect.stringContaining("exit-code=2"),
  });
});

test("the image is made by lines that Docker's parser takes", () => {
  expect(validate(dockerfile)).toEqual([]);
  expect(validate(dockerfile.replace("WORKDIR", "WORKDIRS"))).not.toEqual([]);
});

test("what the image starts runs, and holds what asks in its volume", () => {
  const line = (name: string) => new RegExp(`^${name} (.*)$`, "m").exec(dockerfile)?.[1] ?? "";
  const [command, ...args] = [...JSON.parse(line("ENTRYPOINT")), ...JSON.parse(line("CMD"))] as string[];
  expect(command).toBe("llm-do");
  const [variable = "", volume = ""] = line("ENV").split("=");
  expect(volume).toBe(line("VOLUME"));
  const env = { ...cleanEnvironment(folder), [variable]: join(folder, "volume"), LLM_DO_MODEL: "scripted:script.yaml" };
  const ran = spawnSync(process.execPath, [bin, ...args], { cwd: program, encoding: "utf8", env, input: "" });
  expect(ran, ran.stderr).toMatchObject({ status: 4 });
  expect(readdirSync(join(folder, "volume"))).toHaveLength(1);
});
