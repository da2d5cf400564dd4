import { join } from "node:path";
import type { Host } from "../../host/host.ts";
import { isRecord } from "../../protocol/json.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { sha256 } from "../../util/sha256.ts";
import type { ToolFacts } from "./server.ts";

/** The texts of a server that reach the model. */
export interface Definitions {
  readonly tools: readonly ToolFacts[];
  readonly instructions: string;
}

export type DefinitionsHost = Pick<Host, "files" | "stateDirectory">;

/** Definitions of the tools of one server in one program, as they were last approved. Kept in the user's state folder. */
export interface KnownDefinitions {
  /** Undefined before the first run. */
  read(): Promise<Definitions | undefined>;
  /** Rejects with the system's error if they cannot be written. */
  keep(definitions: Definitions): Promise<void>;
}

/** `identity`: text that tells servers of a program apart, such as the command line. */
export function knownDefinitions(host: DefinitionsHost, folder: string, identity: string): KnownDefinitions {
  const directory = join(host.stateDirectory, "mcp");
  const locate = async () => {
    const real = await host.files.realPath(folder).catch(() => folder);
    return join(directory, `${sha256(canonicalJson([real, identity])).slice(0, 32)}.json`);
  };
  return {
    read: async () => {
      const text = await host.files.readText(await locate()).catch(() => undefined);
      return text === undefined ? undefined : parse(text);
    },
    keep: async ({ tools, instructions }) => {
      await host.files.makeDirectory(directory, 0o700);
      await host.files.writeAtomically(await locate(), `${JSON.stringify({ v: 2, folder, tools, instructions })}\n`, 0o600);
    },
  };
}

function parse(text: string): Definitions | undefined {
  const value = parseJson(text);
  if (!isRecord(value) || value["v"] !== 2) return undefined;
  const { tools, instructions } = value;
  return Array.isArray(tools) && typeof instructions === "string" ? { tools, instructions } : undefined;
}

/** Compares what the model is told, member by member. The order of tools and of keys does not count. */
export function sameDefinitions(one: Definitions, other: Definitions): boolean {
  return canonicalDefinitions(one) === canonicalDefinitions(other);
}

function canonicalDefinitions({ tools, instructions }: Definitions): string {
  const texts = tools.map(({ name, description, inputSchema }) => canonicalJson([name, description, inputSchema]));
  return canonicalJson([texts.sort(), instructions]);
}

/**
 * Renders definitions for a person: a paragraph for each tool, sorted by name, then the instructions. Texts of the server stand behind a
 * margin, so that none of them looks like another tool.
 */
export function printDefinitions({ tools, instructions }: Definitions): string {
  const sorted = [...tools].sort((a, b) => (a.name < b.name ? -1 : 1));
  const paragraphs = sorted.map(
    (tool) => `${printName(tool.name)}\n${inMargin(tool.description)}${JSON.stringify(tool.inputSchema, undefined, 2)}\n`,
  );
  return [...paragraphs, ...(instructions === "" ? [] : [`Instructions of the server\n${inMargin(instructions)}`])].join("\n");
}

function printName(name: string): string {
  return /^[\w./-]+$/.test(name) ? name : JSON.stringify(name);
}

function inMargin(text: string): string {
  return text === "" ? "" : `${text.replace(/^/gm, "| ")}\n`;
}
