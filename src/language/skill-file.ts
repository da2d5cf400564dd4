import { isMap, isScalar, isSeq } from "yaml";
import { composeYaml } from "./yaml/parse-yaml.ts";

/** The header of a `SKILL.md` (agentskills.io). */
export interface SkillHeader {
  readonly name: string;
  readonly description: string;
  /** `allowed-tools`: the tools that its author expects. A wish: the gate decides. */
  readonly allowedTools: readonly string[];
}

/** Characters. Descriptions have 1024 at most. */
const mostOfHeader = 16_384;

/**
 * Reads the header of a skill. Published headers are often no YAML (a colon in a description): such lines are read as `key: text`.
 * Undefined without a header, or without a description, or with a header that is too long. `folder` is the default of the name.
 */
export function parseSkillFile(text: string, folder: string): SkillHeader | undefined {
  const start = text.slice(0, mostOfHeader);
  const [, header] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(start) ?? [];
  if (header === undefined) return undefined;
  const fields = readFields(header);
  const { name, description, "allowed-tools": tools } = fields;
  if (typeof description !== "string" || description.trim() === "") return undefined;
  return {
    name: typeof name === "string" && name.trim() !== "" ? name.trim() : folder,
    description: oneLine(description),
    allowedTools: (typeof tools === "object" ? tools : splitTools(tools ?? "")).map(oneLine).filter(Boolean),
  };
}

/** Returns why a text is no name of a skill by the rules of the format. Undefined for a name. */
export function whyNoSkillName(name: string): string | undefined {
  if ([...name].length > 64) return "a name has 64 characters at most";
  const isName = /^[\p{L}\p{M}\p{N}]+(?:-[\p{L}\p{M}\p{N}]+)*$/u.test(name) && name === name.toLowerCase();
  return isName ? undefined : "a name has lower-case letters, digits, and single hyphens between them";
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ").trim();
}

/** Splits at commas and blanks that stand in no brackets. */
function splitTools(text: string): string[] {
  const tools = [""];
  let depth = 0;
  for (const letter of text) {
    if (letter === "(") depth++;
    if (letter === ")") depth = Math.max(0, depth - 1);
    if (depth === 0 && /[\s,]/.test(letter)) tools.push("");
    else tools[tools.length - 1] += letter;
  }
  return tools;
}

type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Texts and lists of texts alone. */
function readFields(header: string): Fields {
  const { contents, problem } = composeYaml(header);
  if (problem === undefined && isMap(contents)) {
    const textOf = (node: unknown) => (isScalar(node) && node.value !== null ? [String(node.value)] : []);
    const found = contents.items.flatMap(({ key, value }) => {
      const read = isSeq(value) ? value.items.flatMap(textOf) : textOf(value)[0];
      return isScalar(key) ? [[String(key.value), read] as const] : [];
    });
    return Object.fromEntries(found);
  }
  return Object.fromEntries(
    [...header.matchAll(/^([A-Za-z][\w-]*):[ \t]*(.*?)[ \t]*\r?$/gm)].map(([, key = "", value]) => [key, value]),
  );
}
