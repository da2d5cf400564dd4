import { expect, test } from "vitest";
import { compileOn, createMachine, worker } from "./machine.ts";

const made = "workers/generated/echo/worker.worker";

async function compileMade(frontmatter: string, instructions: string) {
  const files = {
    "main.worker": worker("toolsets: { echo: {} }"),
    [made]: worker(`description: Echoes.\n${frontmatter}`, instructions),
    "llm-do.yaml": "sandbox: { paths: { all: { root: ., mode: rw } } }",
  };
  const { program, shown } = await compileOn(createMachine({ files }));
  const echo = program?.workers.get("workers/generated/echo/worker");
  if (!echo) throw new Error(shown.join("\n"));
  return { echo, shown };
}

test("the texts of a worker made in a run are literal, and never templates", async () => {
  const { echo, shown } = await compileMade('prompt: "{{ input }} {% raw"', '{{ input }} {% render "x" %} {{ unknown }}');
  expect(shown).toEqual([]);
  expect(echo.render({ input: "secret" })).toEqual({
    system: ['{{ input }} {% render "x" %} {{ unknown }}'],
    user: "{{ input }} {% raw",
    userFragments: [],
  });
});

test("it has no scope, not even the manifest's, and takes no attachments", async () => {
  const { echo } = await compileMade("", "Echo.");
  expect(echo.scopes).toEqual([]);
  expect(echo.toolsets).toEqual([]);
  expect(echo.attachmentPolicy.maxAttachments).toBe(0);
});

test("it does not become more by a name outside of the folder that leads there", async () => {
  const host = createMachine({
    files: {
      "main.worker": worker("toolsets: { ./alias.worker: {} }"),
      [made]: worker("description: x\ntoolsets: { filesystem: {} }"),
      "alias.worker": { link: `/work/${made}` },
    },
  });
  const { program, shown } = await compileOn(host);
  expect(shown).toEqual(["generated-capability alias.worker:3:11 warning"]);
  expect(program?.workers.get("alias")?.toolsets).toEqual([]);
});
