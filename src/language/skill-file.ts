import { parse } from "yaml";
import { isRecord } from "../protocol/json.ts";

/** The header of a `SKILL.md` (agentskills.io). */
export interface SkillHeader {
  readonly name: string;
  readonly description: string;
  /** `allowed-tools`: the tools that its author expects. A wish: the gate decides. */
  readonly allowedTools: readonly string[];
}

/**
 * Reads the header of a skill. Published headers are often no YAML (a colon in a description): such lines are read as `key: text`.
 * Undefined without a header, or without a description. `folder` is the default of the name.
 */
export function parseSkillFile(text: string, folder: string): SkillHeader | undefined {
  const [, header] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(text) ?? [];
  if (header === undefined) return undefined;
  const fields = readFields(header);
  const { name, description, "allowed-tools": tools } = fields;
  if (typeof description !== "string" || description.trim() === "") return undefined;
  return {
    name: typeof name === "string" && name.trim() !== "" ? name.trim() : folder,
    description: description.trim().replace(/\s+/g, " "),
    allowedTools: (Array.isArray(tools) ? tools.map(String) : String(tools ?? "").split(/,\s*|\s+(?![^(]*\))/)).filter(Boolean),
  };
}

function readFields(header: string): Readonly<Record<string, unknown>> {
  try {
    const read: unknown = parse(header, { maxAliasCount: 0 });
    if (isRecord(read)) return read;
  } catch {
    // Read line by line below.
  }
  return Object.fromEntries(
    [...header.matchAll(/^([A-Za-z][\w-]*):[ \t]*(.*?)[ \t]*\r?$/gm)].map(([, key = "", value]) => [key, value]),
  );
}
