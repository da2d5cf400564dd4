import type { RenderedPrompt } from "../program/program.ts";
import type { JsonObject } from "../protocol/json.ts";
import { canonicalJson } from "../util/canonical-json.ts";

/** Providers refuse an empty user message. */
const noInput = "(no input)";

/**
 * What a worker's call sends first: its instructions as the system part, its input as the user message. A lone string
 * `input` goes as it is; anything more goes as JSON, so that no field is lost.
 */
export function renderPrompt(instructions: string, input: JsonObject): RenderedPrompt {
  const system = instructions.trim();
  return { system: system === "" ? [] : [system], user: renderInput(input) };
}

function renderInput(input: JsonObject): string {
  const given = Object.entries(input).filter(([, value]) => value !== "" && !(Array.isArray(value) && value.length === 0));
  const [first, ...others] = given;
  if (!first) return noInput;
  const [name, value] = first;
  if (others.length === 0 && name === "input" && typeof value === "string") return value.trim() === "" ? noInput : value;
  return canonicalJson(Object.fromEntries(given));
}
