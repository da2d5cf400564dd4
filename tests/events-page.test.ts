import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

/* docs/events.md names every event and type with exactly the fields that they have. */

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/events.md"), "utf8");
const source = (name: string) =>
  readFileSync(join(root, "src/protocol", `${name}.ts`), "utf8").replace(/\/\*\*[\s\S]*?\*\//g, "");

/** `name` or `name?` of each member that is declared at the top of a type. */
function fieldsOf(declaration: string): string[] {
  const flat = declaration.replace(/: (?:readonly )?\{[^{}]*\}/g, ": object");
  return [...flat.matchAll(/readonly (\w+\??):/g)].map(([, field = ""]) => field);
}

function interfaceFields(file: string, name: string): string[] {
  const [, body = ""] = new RegExp(`interface ${name} \\{([\\s\\S]*?)\\n\\}`).exec(source(file)) ?? [];
  return fieldsOf(body);
}

/** The first column of the table below a heading. */
function documented(heading: string): string[] {
  const [, section = ""] = new RegExp(`\\n#+ ${heading}\\n([\\s\\S]*?)(?=\\n#|$)`).exec(page) ?? [];
  return [...section.matchAll(/^\| `([\w?]+)` +\|/gm)].map(([, field = ""]) => field);
}

const [, union = ""] = /type RunEventBody =([\s\S]*?);\n\nexport type RunEvent /.exec(source("event")) ?? [];
const bodies = union.split(/(?:^|\n) {2}\| /).filter((body) => body.includes("type:"));
const events = bodies.map((body) => ({
  type: /readonly type: "([\w-]+)"/.exec(body)?.[1] ?? "",
  fields: fieldsOf(body).filter((field) => field !== "type"),
}));

test("the types are read", () => {
  expect(events.length).toBeGreaterThan(15);
  expect(events[0]).toEqual({ type: "run-start", fields: ["program", "entry", "mode"] });
});

test.each(events)("$type has its fields", ({ type, fields }) => {
  expect(documented(`\`${type}\``)).toEqual(fields);
});

test("no other event is documented", () => {
  const types = [...page.matchAll(/^### `([\w-]+)`$/gm)].map(([, type]) => type);
  expect(new Set(types)).toEqual(new Set(events.map(({ type }) => type)));
});

test.each([
  ["usage", "Usage"],
  ["event", "CallDetail"],
  ["approval", "ApprovalRequest"],
])("%s: %s has its fields", (file, name) => {
  expect(documented(name)).toEqual(interfaceFields(file, name));
});

test("every event has the fields of the envelope", () => {
  const fields = documented("Fields of every event").filter((field) => field !== "type");
  expect(fields).toEqual(interfaceFields("event", "EventEnvelope"));
});
