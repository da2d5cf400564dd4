import { maxReadBytes } from "../../host/scopes/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import { isWithin } from "../../util/within.ts";
import { configSchema } from "../config-schema.ts";
import { type FileAccess, type FileWork, isOfScopes, judge } from "../filesystem/file-tool.ts";
import { readFile } from "../filesystem/read-file.ts";
import { failing } from "../results/scope-failure.ts";
import {
  type OwnVerdict,
  type PreparedToolsetCall,
  preApproved,
  type Tool,
  type Toolset,
  toolFailure,
  toolMark,
  toolsetMark,
  type WorkerRuntime,
} from "../toolset.ts";

export interface SkillsConfig {
  readonly root: string;
}

/** A skill of a folder, as its header has it. */
export interface Skill {
  /** Its folder below the root. */
  readonly folder: string;
  readonly name: string;
  readonly description: string;
}

/** Characters of a description that a model gets before it reads a skill. */
const longestDescription = 1024;

/**
 * Agent Skills: folders with a `SKILL.md`. A model knows their descriptions, and reads the text of a skill when it needs it. Their files
 * lie in a read-only scope of the toolset's name; their scripts run by the rules of `shell`, if the worker has it. Compiling a program fills in the
 * skills.
 */
export const skills: Toolset<SkillsConfig> = {
  [toolsetMark]: true,
  name: "skills",
  config: configSchema<SkillsConfig>(
    { root: { type: "string", description: "The folder that has the skills, relative to this file.", examples: ["./skills"] } },
    ({ root }) => (root === undefined ? [{ path: [], message: 'needs the folder of the skills: { root: "./skills" }' }] : []),
  ),
  // Text of strangers becomes a part of the program's prompts.
  requires: ["trust"],
  tools: () => [],
};

interface LinkedSkills {
  /** The scope that has their files. */
  readonly scope: string;
  readonly skills: readonly Skill[];
}

/** `skills`, linked: one tool that reads the text of a skill, or a file of it, as `read_file` would. */
export function skillsToolset(config: SkillsConfig, { scope, skills: found }: LinkedSkills) {
  const names = found.map(({ name }) => name);
  const folderOf = (skill: unknown) => `${scope}/${folderOfSkill(found, skill)}`;
  const prepare = ({ skill, file = "SKILL.md" }: JsonObject, access: Omit<FileAccess, "config">) =>
    failing(() => readFile.prepare({ path: `${folderOf(skill)}/${String(file)}` }, { ...access, config: whole }));
  const tool: Tool = Object.freeze({
    [toolMark]: true as const,
    name: "read_skill",
    ...presentSkills(found),
    sideEffect: false,
    execute: async (args: JsonObject, { scopes, signal }: WorkerRuntime, payload: unknown) => {
      const work = (payload as FileWork | undefined) ?? (await prepare(args, { scopes, signal }));
      const read = (await failing(() => work.execute({ scopes, signal, config: whole }))) as JsonObject;
      return { folder: folderOf(args["skill"]), text: read["content"] ?? "" };
    },
  });
  const tools = [tool];
  const workOf = ({ preparation }: PreparedToolsetCall) => preparation.payload as FileWork;
  const toolset: Toolset = {
    ...skills,
    tools: () => tools,
    prepare: async ({ args }, access) => {
      const work = await prepare(args, access);
      return { canonicalArgs: args, facts: work.facts, targets: [], payload: work };
    },
    needsApproval: (call) => judgeRead(workOf(call)),
    judgeRecorded: ({ facts, own }, { declarations }) => {
      const scopes = declarations.filter(({ name }) => name === facts["scope"]);
      return scopes.length > 0 && isOfScopes(own) ? judgeRead({ ...unprotected, scopes }) : undefined;
    },
    outlook: (_tool, _config, scopes) => {
      const { realRoot = "" } = scopes.find(({ name }) => name === scope) ?? {};
      const inside = scopes.filter((one) => isWithin(one.realRoot ?? one.root, realRoot));
      return inside.map((one) => judgeRead({ ...unprotected, scopes: [one] }));
    },
    rules: () => names.map((name) => `use the skill ${name}`),
    describeCall: (call) => workOf(call).description,
  };
  return { toolset, config, tools };
}

/** The text that a model reads of the skills, and the argument by which it names one. */
function presentSkills(found: readonly Skill[]): Pick<Tool, "description" | "input"> {
  const lines = found.map(({ name, description }) => `${name}: ${clipText(description, longestDescription)}`);
  return {
    description: ["Read the instructions of a skill before a task that it is for. The skills:", ...lines].join("\n"),
    input: fromJsonSchema({
      type: "object",
      properties: {
        skill: { type: "string", enum: found.map(({ name }) => name) },
        file: { type: "string", description: "A file of the skill that its instructions name. Default: the instructions." },
      },
      required: ["skill"],
      additionalProperties: false,
    }),
  };
}

/** The folder below the root. Throws a `ToolFailure` for a name that no skill has. */
function folderOfSkill(found: readonly Skill[], skill: unknown): string {
  const { folder } = found.find(({ name }) => name === skill) ?? {};
  if (folder !== undefined) return folder;
  const names = found.map(({ name }) => name);
  const shown = clipText(String(skill), 80);
  const hint = didYouMean(shown, names) ?? `there are ${quoteNames(names)}`;
  throw toolFailure("not_found", `there is no skill \`${shown}\``, hint);
}

/** `read_file` without its bound: a result that is too long for the model is cut as any other. */
const whole = { max_chars: maxReadBytes, max_entries: 1, max_search_seconds: 1 };
const unprotected = { virtualPath: "", protection: undefined };

function judgeRead(work: Parameters<typeof judge>[1]): OwnVerdict {
  const own = judge("read", work);
  return own.type === "pre-approved" ? preApproved("it reads a skill of the program") : own;
}
