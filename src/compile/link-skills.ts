import { join } from "node:path";
import type { Host } from "../host/host.ts";
import type { ScopeDeclaration } from "../host/scopes.ts";
import { spanAt } from "../language/json-shape.ts";
import { parseSkillFile } from "../language/skill-file.ts";
import type { ToolsetSyntax, WorkerFile } from "../language/worker-file.ts";
import type { ToolsetReference } from "../program/program.ts";
import { type Skill, type SkillsConfig, skills, skillsScope, skillsToolset } from "../toolsets/skills.ts";
import { quoteNames } from "../util/did-you-mean.ts";
import { sha256 } from "../util/sha256.ts";
import type { Compilation } from "./compilation.ts";
import { rootPath } from "./link-scopes.ts";

/** Bytes of a `SKILL.md`. */
const mostOfSkill = 1_000_000;
const mostSkills = 200;

interface FoundSkill extends Skill {
  readonly allowedTools: readonly string[];
  readonly digest: string;
}

/** Adds the read-only scope of the files of a worker's skills to its scopes. Without skills they stay as they are. */
export async function withSkillsScope(
  compilation: Compilation,
  file: WorkerFile | undefined,
  declared: readonly ScopeDeclaration[],
): Promise<readonly ScopeDeclaration[]> {
  const syntax = file?.toolsets?.value.find(({ reference }) => reference.value === skills.name);
  const root = syntax && rootOf(compilation, syntax);
  if (syntax === undefined || root === undefined) return declared;
  if (declared.some(({ name }) => name === skillsScope)) {
    const message = "`skills` has a scope of its name, and `sandbox.paths` declares another one";
    compilation.diagnostics.report("toolset-config", { message, span: syntax.reference.span, note: "rename the scope" });
    return declared;
  }
  const realRoot = await compilation.host.files.realPath(root).catch(() => root);
  return [...declared, { name: skillsScope, root, realRoot, mode: "ro" }];
}

function rootOf(compilation: Compilation, { config, configSpans, reference }: ToolsetSyntax): string | undefined {
  const { root: value } = config.value;
  return typeof value === "string"
    ? rootPath(compilation, { value, span: spanAt(configSpans, ["root"]) ?? reference.span })
    : undefined;
}

/** Links the skills of a folder. Reports headers that cannot be read, and tools that a skill asks for. */
export async function linkSkills(
  compilation: Compilation,
  syntax: ToolsetSyntax,
  config: SkillsConfig,
): Promise<Pick<ToolsetReference, "toolset" | "config" | "tools">> {
  const { diagnostics, host } = compilation;
  const root = rootOf(compilation, syntax) ?? "";
  const span = spanAt(syntax.configSpans, ["root"]) ?? syntax.reference.span;
  const report = (code: "toolset-hint" | "toolset-warning" | "toolset-config", message: string, note?: string) =>
    diagnostics.report(code, { message: `\`skills\`: ${message}`, span, ...(note === undefined ? {} : { note }) });
  const isFolder = (await host.files.kind(root)) === "directory";
  const folders = isFolder ? await host.files.names(root).catch(() => undefined) : undefined;
  if (!folders) report("toolset-config", `\`${config.root}\` is no folder that can be read`);
  const found: FoundSkill[] = [];
  for (const folder of [...(folders ?? [])].sort().slice(0, mostSkills)) {
    const text = await readSkill(host, join(root, folder));
    if (text === undefined) continue;
    const header = parseSkillFile(text, folder);
    const other = found.find(({ name }) => name === header?.name);
    if (!header) report("toolset-warning", `\`${folder}/SKILL.md\` has no description, so no model is told of it`);
    else if (other)
      report("toolset-warning", `\`${folder}\` and \`${other.folder}\` are both called \`${header.name}\`; the first counts`);
    else found.push({ ...header, folder, digest: sha256(text) });
  }
  if (folders && found.length === 0)
    report("toolset-warning", `\`${config.root}\` has no skill`, "a skill is a folder with a `SKILL.md`");
  for (const { name, allowedTools } of found)
    if (allowedTools.length > 0)
      report(
        "toolset-hint",
        `\`${name}\` asks for ${quoteNames(allowedTools)}; it gets what this worker's toolsets allow, and nothing else`,
      );
  const linked = skillsToolset(config, found);
  const rules = () => found.map(({ name, digest }) => `use the skill ${name} (${digest.slice(0, 12)})`);
  return { ...linked, toolset: { ...linked.toolset, rules } };
}

/** The text of a skill's file; undefined for what is none, for a link, and for one that is too long. */
async function readSkill({ files }: Host, folder: string): Promise<string | undefined> {
  const path = join(folder, "SKILL.md");
  const real = await files.realPath(path).catch(() => undefined);
  const own = await files.realPath(folder).catch(() => undefined);
  if (real === undefined || own === undefined || real !== join(own, "SKILL.md")) return undefined;
  const text = await files.readText(path).catch(() => undefined);
  return text !== undefined && text.length <= mostOfSkill ? text : undefined;
}
