import { resolve } from "node:path";
import type { Host } from "../host/host.ts";
import { printFrontmatter } from "../language/print-worker-file.ts";
import { isRecord, type JsonObject } from "../protocol/json.ts";
import type { Schema } from "../schema/schema.ts";
import { type InferInput, isStandardSchema } from "../schema/standard-schema.ts";
import { type SchemaSource, toSchema } from "../schema/to-schema.ts";
import { copyJson } from "../util/json/plain-json.ts";
import { errorMessage } from "../util/text/error-message.ts";

/** A worker in code. Besides these members it has the keys of a worker file, with the same values: the compiler reports mistakes in them. */
export interface WorkerDefinition {
  /** A letter, then letters, digits, `_` and `-`. */
  readonly name: string;
  /** A template, as in a worker file. */
  readonly instructions: string;
  /** A Standard Schema (zod, …), or what a worker file can have. */
  readonly input?: SchemaSource | JsonObject;
  readonly output?: SchemaSource | JsonObject | string;
  readonly [key: string]: unknown;
}

/** A worker that `defineWorker` made, for `workers` of `run` and `compile`. */
export interface DefinedWorker<Name extends string = string, Output = unknown> {
  readonly name: Name;
  readonly instructions: string;
  /** The keys of its worker file. */
  readonly keys: JsonObject;
  /** For the compiler alone, never there: the type of its output. */
  readonly outputType?: Output;
}

/** The JSON that fits a definition's output schema. Unknown where the schema has no type, or where `extends` can bring another one. */
type OutputOf<D extends WorkerDefinition> = D extends { readonly output: infer Source }
  ? InferInput<Source>
  : "extends" extends keyof D
    ? unknown
    : "output" extends keyof D
      ? unknown
      : string;

/** Defines a worker without a file. Throws a `TypeError` if it has no name or no instructions, or holds what is not JSON. */
export function defineWorker<const D extends WorkerDefinition>(definition: D): DefinedWorker<D["name"], OutputOf<D>> {
  const { name, instructions, input, output, ...keys }: WorkerDefinition = definition;
  if (typeof name !== "string" || !/^[A-Za-z][A-Za-z0-9_-]*$/.test(name))
    throw new TypeError("`defineWorker.name` must be a letter, then letters, digits, `_` and `-`");
  if (typeof instructions !== "string" || instructions.trim() === "")
    throw new TypeError(`\`defineWorker.instructions\` of \`${name}\` must be a text that says what to do`);
  requireData(keys, name);
  const written = { ...keys, ...writtenSchema(name, { input }), ...writtenSchema(name, { output }) };
  return Object.freeze({ name, instructions, keys: copyJson(written) as JsonObject });
}

/** A function would be lost without a word. Tools are the functions that are written here. */
function requireData(keys: object, worker: string, path: readonly string[] = []): void {
  for (const [key, value] of Object.entries(keys)) {
    const place = [...path, key];
    if (typeof value === "function")
      throw new TypeError(
        `\`${place.join(".")}\` of \`${worker}\` is a function, and a worker is data: export a tool from a file, name the file in \`files\`, and write \`toolsets: { NAME: {} }\``,
      );
    // A value that is nested deeper holds a cycle, which is refused if it is copied.
    if (isRecord(value) && place.length < 20) requireData(value, worker, place);
  }
}

export function isDefinedWorker(value: unknown): value is DefinedWorker {
  return (
    isRecord(value) && typeof value["name"] === "string" && typeof value["instructions"] === "string" && isRecord(value["keys"])
  );
}

interface DefinedRequest {
  readonly workers?: readonly DefinedWorker[];
  readonly files?: readonly string[];
  readonly entry?: string;
}

/** Throws a `TypeError` for workers that make no program. */
export function checkDefined({ workers, target }: Pick<DefinedRequest, "workers"> & { readonly target?: unknown }): void {
  if (!workers) return;
  if (target !== undefined) throw new TypeError("`target` and `workers` exclude one another");
  if (workers.length === 0) throw new TypeError("`workers` is empty: it holds the entry first");
  const twice = workers.find(({ name }, index) => workers.findIndex((one) => one.name === name) < index);
  if (twice) throw new TypeError(`two of \`workers\` have the name \`${twice.name}\``);
}

/**
 * The files that defined workers would be, by absolute path, and the request that compiles them. They lie in the working directory, to which
 * their paths are relative.
 */
export function toDefinedSource(
  { workers, files = [], entry }: DefinedRequest,
  { workingDirectory }: Pick<Host, "workingDirectory">,
): { readonly texts: ReadonlyMap<string, string>; readonly request: Pick<DefinedRequest, "files" | "entry"> } {
  if (!workers) return { texts: new Map(), request: {} };
  const texts = new Map(
    workers.map(({ name, instructions, keys }) => [
      resolve(workingDirectory, `${name}.worker`),
      printFrontmatter({}, keys, instructions),
    ]),
  );
  return { texts, request: { files: [...texts.keys(), ...files], entry: entry ?? workers[0]?.name ?? "" } };
}

function writtenSchema(worker: string, given: { readonly [key: string]: WorkerDefinition["output"] | undefined }): object {
  const [[key = "", source] = []] = Object.entries(given);
  if (source === undefined) return {};
  if (!isStandardSchema(source)) return { [key]: source };
  const place = `\`${key}\` of \`${worker}\``;
  const schema = schemaAt(place, source);
  if (!schema.settle) return { [key]: schema.jsonSchema };
  throw new TypeError(`${place} needs a schema that says its JSON Schema itself, such as one of zod 4, or JSON Schema`);
}

function schemaAt(place: string, source: SchemaSource): Schema {
  try {
    return toSchema(source);
  } catch (thrown) {
    throw new TypeError(`${place}: ${errorMessage(thrown)}`, { cause: thrown });
  }
}
