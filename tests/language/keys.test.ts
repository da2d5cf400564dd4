import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseDocument } from "yaml";
import { frontmatterSchema } from "../../src/language/frontmatter-schema.ts";
import { parseWorkerFile } from "../../src/language/parse-worker-file.ts";
import { isRecord } from "../../src/protocol/json.ts";

const folder = join(import.meta.dirname, "samples");
const samples = readdirSync(folder).map((name) => ({
  text: readFileSync(join(folder, name, "input.worker"), "utf8"),
  accepted: existsSync(join(folder, name, "tree.json")),
}));

test.each(["accepted", "refused"])("every key, nested ones too, is %s by one", (verdict) => {
  const schema = frontmatterSchema as SchemaOfKeys;
  const wanted = keyPaths(schema);
  const met = new Set<string>();
  for (const { text, accepted } of samples.filter((sample) => sample.accepted === (verdict === "accepted"))) {
    for (const path of keyPaths(schema, frontmatterOf(text))) if (accepted || isBlamed(path, text)) met.add(path);
  }
  expect(wanted.filter((path) => !met.has(path))).toEqual([]);
});

interface SchemaOfKeys {
  readonly properties?: Readonly<Record<string, SchemaOfKeys>>;
  readonly additionalProperties?: boolean | SchemaOfKeys;
  readonly items?: SchemaOfKeys;
}

/** Paths of the keys that a schema names; of those that a value has, if one is given. `*` stands for any name or index. */
function keyPaths(schema: SchemaOfKeys, ...values: readonly unknown[]): string[] {
  const isAll = values.length === 0;
  const record = isRecord(values[0]) ? values[0] : {};
  const named = Object.entries(schema.properties ?? {}).flatMap(([key, child]) => {
    if (!isAll && !Object.hasOwn(record, key)) return [];
    return [key, ...keyPaths(child, ...(isAll ? [] : [record[key]])).map((path) => `${key}.${path}`)];
  });
  const any = schema.items ?? (isRecord(schema.additionalProperties) ? (schema.additionalProperties as SchemaOfKeys) : undefined);
  if (any === undefined) return named;
  const names = Object.keys(record).filter((key) => !Object.hasOwn(schema.properties ?? {}, key));
  const members = Array.isArray(values[0]) ? values[0] : names.map((key) => record[key]);
  const inner = isAll ? keyPaths(any) : members.flatMap((member) => keyPaths(any, member));
  return [...named, ...inner.map((path) => `*.${path}`)];
}

/** Undefined where YAML itself fails. */
function frontmatterOf(text: string): unknown {
  const [, frontmatter = ""] = /^---\n(.*?)^---$/ms.exec(text.replaceAll("\r", "").replace("\uFEFF", "")) ?? [];
  try {
    return parseDocument(frontmatter, { logLevel: "silent" }).toJS();
  } catch {
    return undefined;
  }
}

/** Returns true if a sample reports a mistake of this key: the message names it, or the place is right behind it. */
function isBlamed(path: string, text: string): boolean {
  const key = path.slice(path.lastIndexOf(".") + 1);
  return parseWorkerFile({ name: "input.worker", text }).diagnostics.some(({ message, span }) => {
    if (new RegExp(`[\`.]${key}[\`.]`).test(message)) return true;
    const before = span ? span.source.text.slice(0, span.start) : "";
    return [...before.matchAll(/([\w-]+):/g)].at(-1)?.[1] === key || span?.source.text.startsWith(`${key}:`, span.start);
  });
}
