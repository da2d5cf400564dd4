import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { JsonObject } from "../../src/index.ts";
import { compileOn, createMachine, worker } from "./machine.ts";

async function render(text: string, input: JsonObject, files: Record<string, string> = {}, modules = {}) {
  const host = createMachine({ files: { "main.worker": text, ...files }, modules });
  const { program, shown } = await compileOn(host, { trust: true });
  expect(shown).toEqual([]);
  if (program?.entry.kind !== "worker") throw new Error("no worker");
  return program.entry.worker.render(input);
}

describe("the user's message", () => {
  const fields = "input: { input?: string, company?: string, tags?(array): string, attachments?(array): attachment }";

  test.each<[string, JsonObject, string, string]>([
    ["a text `input` as it is", { input: "hello" }, "Help.", "hello"],
    ["also beside attachments", { input: "hello", attachments: ["a.pdf"] }, "Help.", "hello"],
    ["also if the instructions hold it", { input: "hello" }, "Help with {{ input }}.", "hello"],
    ["JSON of several fields", { input: "hello", company: "Acme" }, "Help.", '{"company":"Acme","input":"hello"}'],
    ["JSON without what the instructions hold", { company: "Acme", tags: ["a"] }, "Help {{ company }}.", '{"tags":["a"]}'],
    ["the text if all else is held", { input: "hello", company: "Acme" }, "Help {{ company }}.", "hello"],
    ["attachments alone by their paths", { attachments: ["a.pdf"] }, "Help.", '{"attachments":["a.pdf"]}'],
    ["a placeholder for nothing", {}, "Help.", "(no input)"],
    ["a placeholder if all is held", { company: "Acme" }, "Help {{ company }}.", "(no input)"],
    ["a placeholder for empty values", { input: "", tags: [] }, "Help.", "(no input)"],
    ["a placeholder for blank text", { input: " \n" }, "Help.", "(no input)"],
  ])("%s", async (_, input, instructions, user) => {
    expect((await render(worker(fields, instructions), input)).user).toBe(user);
  });

  test("`prompt` in the place of all that", async () => {
    const text = worker(`${fields}\nprompt: "Look at {{ company }}."`);
    expect((await render(text, { company: "Acme", input: "hello" })).user).toBe("Look at Acme.");
    expect((await render(worker(`${fields}\nprompt: "{% if company %}x{% endif %}"`), {})).user).toBe("(no input)");
  });
});

test("the default input takes a text and attachments", async () => {
  expect((await render(worker("description: x", "{{ input }}!"), { input: "hi" })).system).toEqual(["hi!"]);
});

test("fragments are parts of their own, literal, the instructions first", async () => {
  const text = worker("system_fragments: [a.md, sub/b.md]\nfragments: [sub/c.md, ./empty.md]", "Help.");
  const files = { "a.md": "\uFEFFA {{ x }}\r\n", "sub/b.md": "B", "sub/c.md": "C {% y %}", "empty.md": " \n" };
  expect(await render(text, { input: "x" }, files)).toEqual({
    system: ["Help.", "A {{ x }}\r\n", "B"],
    user: "x",
    userFragments: ["C {% y %}"],
  });
});

test("includes come from the worker's folder, then from templates/, and are part of the program", async () => {
  const host = createMachine({
    files: {
      "main.worker": worker("toolsets: { ./sub/x.worker: {} }", '{% render "a.md" %}'),
      "sub/x.worker": worker("description: x", '{% render "a.md" %} {% render "b.md" %}'),
      "a.md": "root",
      "sub/a.md": "sub",
      "templates/b.md": "shared",
      "b.md": "not this",
    },
  });
  const { program, shown } = await compileOn(host);
  expect(shown).toEqual([]);
  const systemOf = (id: string) => program?.workers.get(id)?.render({ input: "x" }).system;
  expect([systemOf("main"), systemOf("sub/x")]).toEqual([["root"], ["sub shared"]]);
  expect(program?.files).toEqual(expect.arrayContaining(["/work/sub/a.md", "/work/templates/b.md"]));
  expect(program?.files).not.toContain("/work/b.md");
});

test("links that lead out are not included, and not taken for fragments", async () => {
  const host = createMachine({
    files: {
      "main.worker": worker("fragments: [link.md]", '{% render "link.md" %}'),
      "link.md": { link: "/etc/passwd" },
      "/etc/passwd": "root:x",
    },
  });
  const { shown, program } = await compileOn(host);
  expect(program).toBeUndefined();
  expect(shown.filter((line) => line.startsWith("reference-outside"))).toHaveLength(2);
});

test("a schema in code gives the variables, and what it makes of a value counts", async () => {
  const Pitch = z.object({ company: z.string().trim(), slides: z.number().default(3) });
  const files = { "schemas.ts": "export const Pitch = 1;" };
  const text = worker("input: ./schemas.ts:Pitch", "{{ company }}: {{ slides }}");
  const host = createMachine({ files: { "main.worker": text, ...files }, modules: { "schemas.ts": { Pitch } } });
  const { program, shown } = await compileOn(host, { trust: true });
  expect(shown).toEqual([]);
  const linked = program?.workers.get("main");
  const checked = await linked?.input.validate({ company: " Acme " });
  expect(checked).toEqual({ ok: true, value: { company: "Acme", slides: 3 } });
  expect(linked?.render({ company: "Acme", slides: 3 }).system).toEqual(["Acme: 3"]);
});

test("a schema of any kind will do, if it can say its JSON Schema", async () => {
  const jsonSchema = { type: "object", properties: { a: { type: "string" } } };
  const Mine = {
    "~standard": {
      version: 1,
      vendor: "mine",
      validate: (value: unknown) => (isWithA(value) ? { value } : { issues: [{ message: "no", path: [{ key: "a" }] }] }),
      jsonSchema: { input: () => ({ $schema: "https://json-schema.org/draft/2020-12/schema", ...jsonSchema }) },
    },
  };
  const files = { "main.worker": worker("output: ./schemas.ts:Mine"), "schemas.ts": "export const Mine = 1;" };
  const host = createMachine({ files, modules: { "schemas.ts": { Mine } } });
  const output = (await compileOn(host, { trust: true })).program?.workers.get("main")?.output;
  expect(output?.jsonSchema).toEqual(jsonSchema);
  expect(await output?.validate({ a: "x" })).toEqual({ ok: true, value: { a: "x" } });
  expect(await output?.validate({})).toEqual({ ok: false, issues: [{ path: ["a"], message: "no" }] });
});

function isWithA(value: unknown): boolean {
  return typeof value === "object" && value !== null && "a" in value;
}
