import type { QuestionPreview } from "../protocol/approval.ts";
import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import { getOwn } from "../util/get-own.ts";
import { askerOf } from "./timed-runtime.ts";
import type { WorkerRuntime } from "./toolset.ts";

/** A question to the user by somebody whom a tool calls, such as a server. All of its texts are untrusted. */
export interface ForeignQuestion {
  /** Names who asks: `the MCP server notes`. */
  readonly from: string;
  readonly message: string;
  readonly fields: readonly AnswerField[];
}

/** A field of the answer: a value without parts, or a list of choices. */
export interface AnswerField {
  readonly name: string;
  readonly type: "string" | "number" | "integer" | "boolean" | "choices";
  readonly isRequired: boolean;
  readonly about: string;
  /** Absent: any value of the type. */
  readonly choices?: readonly string[];
  readonly default?: JsonValue;
}

/** `values`: what the user filled in, by the names of the fields. */
export type ForeignAnswer = { readonly type: "answered"; readonly values: JsonObject } | { readonly type: "declined" };

/** Asks the user during a call of a tool. Declined where there is no person. Rejects if the run ends. */
export type AskUser = (question: ForeignQuestion) => Promise<ForeignAnswer>;

export async function askUser(runtime: WorkerRuntime, question: ForeignQuestion): Promise<ForeignAnswer> {
  return (await askerOf(runtime)?.(question)) ?? { type: "declined" };
}

/** The fields of a schema, as far as it has the form that questions can have: properties with values that have no parts. */
export function readFields({ properties, required }: JsonObject): readonly AnswerField[] {
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, given]) => {
    if (!isRecord(given)) return [];
    const items = isRecord(given["items"]) ? given["items"] : undefined;
    const choices = readChoices(items ?? given);
    const type = items ? "choices" : given["type"];
    if (type !== "string" && type !== "number" && type !== "integer" && type !== "boolean" && type !== "choices") return [];
    const about = [given["title"], given["description"]].filter((text) => typeof text === "string").join(": ");
    const standard = given["default"] as JsonValue | undefined;
    const field = { name, type, about, isRequired: needed.includes(name), ...(choices ? { choices } : {}) } as const;
    return [standard !== undefined && fits(standard, field) ? { ...field, default: standard } : field];
  });
}

function readChoices({ enum: values, oneOf, anyOf }: Readonly<Record<string, unknown>>): readonly string[] | undefined {
  const titled = Array.isArray(oneOf) ? oneOf : Array.isArray(anyOf) ? anyOf : [];
  const found = Array.isArray(values) ? values : titled.map((one) => (isRecord(one) ? one["const"] : undefined));
  const choices = found.filter((one): one is string => typeof one === "string");
  return choices.length > 0 ? choices : undefined;
}

function fits(value: JsonValue, { type, choices }: Pick<AnswerField, "type" | "choices">): boolean {
  if (type === "choices") return Array.isArray(value) && value.every((one) => choices?.includes(String(one)) ?? true);
  if (type === "integer") return Number.isSafeInteger(value);
  return typeof value === type && (choices === undefined || choices.includes(String(value)));
}

/** The answer before anybody has filled in something. */
export function emptyAnswer(fields: readonly AnswerField[]): JsonObject {
  return Object.fromEntries(fields.map(({ name, default: value = null }) => [name, value]));
}

/** The values without the fields that are left empty: null, or an empty text. */
export function filledIn(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== ""));
}

/** Says for a person why an answer cannot be sent; undefined if it can. */
export function answerProblem(fields: readonly AnswerField[], values: JsonObject): string | undefined {
  const filled = filledIn(values);
  const unknown = Object.keys(filled).find((name) => !fields.some((field) => field.name === name));
  if (unknown !== undefined) return `there is no field \`${unknown}\``;
  for (const field of fields) {
    const value = getOwn(filled, field.name);
    if (value === undefined && field.isRequired) return `\`${field.name}\` is missing`;
    if (value !== undefined && !fits(value, field)) return `\`${field.name}\` ${describeField(field)}`;
  }
  return undefined;
}

const typeNames = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  choices: "a list",
} as const;

function describeField({ type, choices }: AnswerField): string {
  const of = choices ? `: ${choices.join(", ")}` : "";
  if (type === "choices") return `is a list of these${of}`;
  return choices ? `is one of these${of}` : `is ${typeNames[type]}`;
}

/** All that the person who answers has to see. */
export function previewQuestion({ from, message, fields }: ForeignQuestion): QuestionPreview {
  const shown = fields.map(({ type, default: proposed, ...field }) => ({
    ...field,
    takes: typeNames[type],
    ...(proposed === undefined ? {} : { proposed }),
  }));
  return { type: "question", from, message, fields: shown };
}
