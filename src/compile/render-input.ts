import { isRecord, type JsonObject, type JsonValue } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { canonicalJson } from "../util/canonical-json.ts";

export interface InputRendering {
  /** The fields whose values the instructions hold already. */
  readonly used: ReadonlySet<string>;
  readonly jsonSchema: JsonSchema;
}

/**
 * The input as the user's message, where no `prompt` says otherwise. A text `input` goes as it is, if no other field is left
 * to tell; else all fields that the instructions do not hold go as JSON, so that none is lost. Attachments are parts of
 * their own, and their paths alone are no reason for JSON.
 */
export function renderInput(values: JsonObject, { used, jsonSchema }: InputRendering): string {
  const left = Object.entries(values).filter(([name, value]) => !used.has(name) && isGiven(value));
  const told = left.filter(([name]) => name !== "input" && !isAttachment(jsonSchema, name));
  const { input } = values;
  if (told.length === 0 && typeof input === "string" && input.trim() !== "") return input;
  return left.length === 0 ? "" : canonicalJson(Object.fromEntries(left));
}

function isGiven(value: JsonValue | undefined): boolean {
  if (typeof value === "string") return value.trim() !== "";
  return value !== undefined && !(Array.isArray(value) && value.length === 0);
}

function isAttachment({ properties }: JsonSchema, name: string): boolean {
  const field = isRecord(properties) ? properties[name] : undefined;
  if (!isRecord(field)) return false;
  const { items } = field;
  return field["x-llm-do"] === "attachment" || (isRecord(items) && items["x-llm-do"] === "attachment");
}
