import { join } from "node:path";
import type { Host } from "../host/host.ts";
import type { ScopeDeclaration } from "../host/scopes.ts";
import { spanAt } from "../language/json-shape.ts";
import { parseSkillFile } from "../language/skill-file.ts";
import type { ToolsetSyntax, WorkerFile } from "../language/worker-file.ts";
import type { ToolsetReference } from "../program/program.ts";
import { type Skill, type SkillsConfig, skills, skillsScope, skillsToolset } from "../toolsets/skills.ts";
import { quoteNames } from "../util/did-you-mean.ts";
import { errorMessage } from "../util/error-message.ts";
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

/** Links the skills of a folder. Reports folders that give no skill, and tools that a skill asks for. */
export async function linkSkills(
  compilation: Compilation,
  syntax: ToolsetSyntax,
  config: SkillsConfig,
): Promise<Pick<ToolsetReference, "toolset" | "config" | "tools">> {
  const { diagnostics, host } = compilation;
  const root = rootOf(compilation, syntax) ?? "";
  const span = spanAt(syntax.configSpans, ["root"]) ?? syntax.reference.span;
  const report: Report = (code, message, note) =>
    diagnostics.report(code, { message: `\`skills\`: ${message}`, span, ...(note === undefined ? {} : { note }) });
  const isFolder = (await host.files.kind(root)) === "directory";
  const names = isFolder ? await host.files.names(root).catch(() => undefined) : undefined;
  if (!names) report("toolset-config", `\`${config.root}\` is no folder that can be read`);
  // Hidden folders are those of tools, such as `.git`.
  const shown = (names ?? []).filter((name) => !name.startsWith("."));
  if (shown.length > mostSkills)
    report("toolset-warning", `\`${config.root}\` has ${shown.length} entries; the first ${mostSkills} are read`);
  const found: FoundSkill[] = [];
  for (const folder of shown.slice(0, mostSkills)) {
    const read = await readSkill(host, root, folder);
    if (read === undefined) continue;
    const other = found.find(({ name }) => name === read.skill?.name);
    if (!read.skill) report(read.code, read.why);
    else if (other)
      report("toolset-warning", `\`${folder}\` and \`${other.folder}\` are both called \`${other.name}\`; the first counts`);
    else found.push(read.skill);
  }
  if (names && found.length === 0)
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

type Report = (code: "toolset-hint" | "toolset-warning" | "toolset-config", message: string, note?: string) => void;

type ReadSkill =
  | { readonly skill: FoundSkill }
  | { readonly skill?: undefined; readonly code: "toolset-hint" | "toolset-warning"; readonly why: string };

/** Reads the skill of a folder, or says why it has none that counts. Undefined for a file beside the skills. */
async function readSkill({ files }: Host, root: string, folder: string): Promise<ReadSkill | undefined> {
  const path = join(root, folder, "SKILL.md");
  const file = `\`${folder}/SKILL.md\``;
  try {
    const text = await files.readText(path, { maxBytes: mostOfSkill, within: root });
    const header = parseSkillFile(text, folder);
    if (header) return { skill: { ...header, folder, digest: sha256(text) } };
    return { code: "toolset-warning", why: `${file} has no header with a \`description\`, so no model is told of it` };
  } catch (thrown) {
    const isMissing = ["ENOENT", "ENOTDIR"].includes(codeOf(thrown));
    if (isMissing && (await files.kind(join(root, folder))) !== "directory") return undefined;
    if (isMissing) return { code: "toolset-hint", why: `the folder \`${folder}\` has no \`SKILL.md\`, so it is no skill` };
    return { code: "toolset-warning", why: `${file} is not read: ${whyUnreadable(thrown)}` };
  }
}

function whyUnreadable(thrown: unknown): string {
  switch (codeOf(thrown)) {
    case "EFBIG":
      return `it has more than ${mostOfSkill.toLocaleString("en-US")} bytes`;
    case "EXDEV":
      return "it lies outside of this folder, behind a link";
    case "ENXIO":
    case "EISDIR":
      return "it is no file";
    default:
      return errorMessage(thrown);
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "";
}
