import { fstatSync } from "node:fs";
import { isAbsolute } from "node:path";
import type { Program } from "../../front/llm-do.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { buildEntryInput, inputSchemaOf } from "../../runtime/results/entry-input.ts";
import { attachmentField } from "../../toolsets/attachments.ts";
import { promptField } from "../../toolsets/workers/prompt-field.ts";
import { UsageError } from "../exit-codes.ts";
import { type FlagValue, nameOf, readFlagValue, takesStdin } from "./flag-value.ts";
import { type FieldFlag, parseField, parseInputJson, type ReadField, readFields, typeFields } from "./input-fields.ts";
import { type ReadOptions, readStdin } from "./read-stdin.ts";
import type { RunWords } from "./run-words.ts";

/** The flags that make the entry's input. */
export interface InputFlags {
  /** `-i key=value`. */
  readonly input?: readonly string[];
  readonly inputJson?: string;
  readonly attachment?: readonly string[];
}

/** The entry's input as the command line gives it: read, and not yet fitted to the schema. */
export interface GivenInput {
  readonly fields: readonly ReadField[];
  readonly json: JsonObject | undefined;
  /** The prompt argument; undefined if there is none. */
  readonly prompt: string | undefined;
  /** Reads the prompt from stdin where it is a pipe or a file and no flag or argument gives a prompt. Reads once. */
  readonly readImpliedPrompt: () => Promise<string | undefined>;
  readonly hasAttachments: boolean;
}

/** Reads everything that flags and arguments name. stdin is read once, for one of them. Throws a `UsageError`. */
export async function readInput(words: RunWords, flags: InputFlags, options: ReadOptions): Promise<GivenInput> {
  const fields = (flags.input ?? []).map(parseField);
  const json = flags.inputJson === undefined ? undefined : toJsonFlag(flags.inputJson);
  const isTaken = checkStdin(words, fields, json);
  let implied: Promise<string | undefined> | undefined;
  return {
    fields: await readFields(fields, options),
    json: json && parseInputJson(await readFlagValue(json, options), nameOf(json)),
    prompt: words.prompt && (await readPrompt(words, options)),
    readImpliedPrompt: () => {
      implied ??= words.prompt || isTaken || json ? Promise.resolve(undefined) : readPrompt(words, options);
      return implied;
    },
    hasAttachments: (flags.attachment ?? []).length > 0,
  };
}

/** `-` is `@-` here, as in the arguments. */
function toJsonFlag(text: string): FlagValue {
  return { flag: `--input-json ${text}`, text: text === "-" ? "@-" : text };
}

/** Returns true if an argument reads stdin. Throws a `UsageError` if several do. */
function checkStdin({ prompt }: RunWords, fields: readonly FieldFlag[], json: FlagValue | undefined): boolean {
  const takers = [...fields, ...(json ? [json] : [])].filter(takesStdin).map(nameOf);
  if (prompt && !prompt.isLiteral && prompt.text === "-") takers.push("the prompt `-`");
  if (takers.length > 1) throw new UsageError(`stdin can be read once, and ${takers.join(" and ")} read it`);
  return takers.length > 0;
}

/**
 * The input of a run; undefined if none is given. Fields get their types from the entry's schema: `--input-json`, over it `-i`,
 * and the prompt where neither has its field. A prompt or JSON alone is returned as it is. Throws a `UsageError`.
 */
export async function fitInput(given: GivenInput, program: Program): Promise<JsonObject | string | undefined> {
  const { fields, json, prompt } = given;
  if (fields.length > 0 || (json && prompt !== undefined)) return fitFields(given, program);
  return json ?? prompt ?? (await given.readImpliedPrompt());
}

async function fitFields(given: GivenInput, program: Program): Promise<JsonObject> {
  const schema = inputSchemaOf(program);
  const input = { ...given.json, ...typeFields(schema, given.fields) };
  checkAttachments(given, schema, input);
  const { field } = promptField(schema);
  const isFull = field !== undefined && Object.hasOwn(input, field);
  if (isFull && given.prompt !== undefined)
    throw new UsageError(
      `the prompt fills the field ${field}, and ${sourceOf(given, field)} gives it too; leave one of them out`,
    );
  const prompt = given.prompt ?? (field === undefined || isFull ? undefined : await given.readImpliedPrompt());
  return buildEntryInput(schema, { input, prompt, files: [] });
}

function sourceOf({ fields }: GivenInput, field: string): string {
  return fields.find(({ key }) => key === field)?.flag ?? "--input-json";
}

function checkAttachments(given: GivenInput, schema: JsonSchema, input: JsonObject): void {
  const field = attachmentField(schema)?.name;
  if (field === undefined || !Object.hasOwn(input, field)) return;
  const absolute = [input[field]].flat().find((path) => typeof path === "string" && isAbsolute(path));
  if (absolute !== undefined)
    throw new UsageError(`${sourceOf(given, field)}: ${field} takes paths in the entry's scopes; --attachment gives other files`);
  if (!given.hasAttachments) return;
  throw new UsageError(
    `--attachment fills the field ${field}, and ${sourceOf(given, field)} gives it too; leave one of them out`,
  );
}

/** The prompt of a run, if it has one. stdin is read for `-`, or where there is none and stdin is a pipe or a file. */
async function readPrompt({ prompt }: RunWords, options: ReadOptions): Promise<string | undefined> {
  if (prompt !== undefined && (prompt.isLiteral || prompt.text !== "-")) return prompt.text;
  if (prompt && process.stdin.isTTY) throw new UsageError("`-` reads the prompt from stdin, and stdin is a terminal");
  if (!prompt && !isPipeOrFile(0)) return undefined;
  const text = await readStdin("the prompt", options);
  return !prompt && text.trim() === "" ? undefined : text.replace(/\r?\n$/, "");
}

function isPipeOrFile(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    return false;
  }
}
