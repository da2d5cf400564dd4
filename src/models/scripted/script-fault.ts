import { isRecord } from "../../protocol/json.ts";

/** A mistake in a script: where in it, and what. */
export class ScriptFault extends Error {
  readonly path: readonly (string | number)[];

  constructor(path: readonly (string | number)[], message: string) {
    super(path.length > 0 ? `${renderPath(path)}: ${message}` : message);
    this.name = "ScriptFault";
    this.path = path;
  }
}

export type FieldKinds = Readonly<Record<string, FieldKind>>;
export type FieldKind = "string" | "strings" | "count" | "boolean" | "list" | "record" | "any";

const kinds: Readonly<Record<FieldKind, { readonly is: (value: unknown) => boolean; readonly label: string }>> = {
  string: { is: (value) => typeof value === "string", label: "a text" },
  strings: { is: (value) => typeof value === "string" || isStrings(value), label: "a text or a list of texts" },
  count: { is: (value) => Number.isInteger(value) && (value as number) >= 0, label: "a whole number from 0" },
  boolean: { is: (value) => typeof value === "boolean", label: "true or false" },
  list: { is: Array.isArray, label: "a list" },
  record: { is: isRecord, label: "a mapping" },
  any: { is: () => true, label: "anything" },
};

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((member) => typeof member === "string");
}

/** A mapping with known keys only, each of its kind; keys that are `undefined` count as absent. */
export function readFields(value: unknown, fields: FieldKinds, path: readonly (string | number)[]): Record<string, unknown> {
  if (!isRecord(value)) throw new ScriptFault(path, "must be a mapping");
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    const kind = Object.hasOwn(fields, key) ? fields[key] : undefined;
    if (!kind) throw new ScriptFault([...path, key], `unknown key; known: ${Object.keys(fields).join(", ")}`);
    if (!kinds[kind].is(member)) throw new ScriptFault([...path, key], `must be ${kinds[kind].label}`);
  }
  return value;
}

function renderPath(path: readonly (string | number)[]): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : index > 0 ? `.${key}` : key)).join("");
}
