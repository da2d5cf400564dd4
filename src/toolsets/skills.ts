import type { JsonObject } from "../protocol/json.ts";
import { fromJsonSchema } from "../schema/from-json-schema.ts";
import { clipText } from "../util/clip-text.ts";
import { didYouMean, quoteNames } from "../util/did-you-mean.ts";
import { configSchema } from "./config-schema.ts";
import { preApproved, type Tool, type Toolset, toolFailure, toolMark, toolsetMark, type WorkerRuntime } from "./toolset.ts";

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

/** The scope that has the files of the skills. */
export const skillsScope = "skills";

/**
 * Agent Skills: folders with a `SKILL.md`. A model knows their descriptions, and reads the text of a skill when it needs it. Their files
 * lie in the read-only scope `skills`; their scripts run by the rules of `shell`, if the worker has it. Compiling a program fills in the
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

/** `skills`, linked: one tool that reads the text of a skill, or a file of it. */
export function skillsToolset(config: SkillsConfig, found: readonly Skill[]) {
  const names = found.map(({ name }) => name);
  const lines = found.map(({ name, description }) => `${name}: ${clipText(description, longestDescription)}`);
  const tool: Tool = Object.freeze({
    [toolMark]: true as const,
    name: "read_skill",
    description: ["Read the instructions of a skill before a task that it is for. The skills:", ...lines].join("\n"),
    input: fromJsonSchema({
      type: "object",
      properties: {
        skill: { type: "string", enum: names },
        file: { type: "string", description: "A file of the skill that its instructions name. Default: the instructions." },
      },
      required: ["skill"],
      additionalProperties: false,
    }),
    sideEffect: false,
    approval: "pre-approved" as const,
    execute: async (args: JsonObject, { scopes }: WorkerRuntime) => {
      const { skill, file = "SKILL.md" } = args;
      const { folder } = found.find(({ name }) => name === skill) ?? {};
      if (folder === undefined) {
        const shown = clipText(String(skill), 80);
        throw toolFailure(
          "not_found",
          `there is no skill \`${shown}\``,
          didYouMean(shown, names) ?? `there are ${quoteNames(names)}`,
        );
      }
      const path = `${skillsScope}/${folder}`;
      const { bytes } = await scopes.read(`${path}/${String(file)}`);
      return { folder: path, text: new TextDecoder().decode(bytes) };
    },
  });
  const tools = [tool];
  return {
    toolset: {
      ...skills,
      tools: () => tools,
      needsApproval: () => preApproved("it reads a skill of the program"),
      outlook: () => [preApproved("it reads a skill of the program")],
      rules: () => names.map((name) => `use the skill ${name}`),
    } as Toolset,
    config,
    tools,
  };
}
