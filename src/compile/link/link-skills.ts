import { join } from "node:path";
import type { ScopeDeclaration } from "../../host/scopes/scopes.ts";
import { spanAt } from "../../language/shapes/json-shape.ts";
import { parseSkillFile, whyNoSkillName } from "../../language/skill-file.ts";
import type { ToolsetSyntax } from "../../language/worker-file.ts";
import type { ToolsetReference } from "../../program/program.ts";
import { readSkillFiles, type SkillFiles } from "../../toolsets/skills/skill-files.ts";
import { type Skill, type SkillsConfig, skills, skillsToolset } from "../../toolsets/skills/skills.ts";
import { getOrMake } from "../../util/get-or-make.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { sha256 } from "../../util/sha256.ts";
import { quoteNames } from "../../util/text/did-you-mean.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { isWithin } from "../../util/within.ts";
import type { Compilation } from "../compilation.ts";
import type { ResolvedReference } from "../resolve/resolve-reference.ts";
import { rootFolder } from "./link-scopes.ts";

const mostSkills = 200;
/** Files that one report names. */
const mostNamed = 10;

interface FoundSkill extends Skill {
  readonly allowedTools: readonly string[];
}

/** Adds a read-only scope for each folder of skills of a worker, by the name of its toolset. Their files are pinned, and belong to the program. */
export async function withSkillsScopes(
  compilation: Compilation,
  references: readonly ResolvedReference[],
  declared: readonly ScopeDeclaration[],
): Promise<readonly ScopeDeclaration[]> {
  const scopes = [...declared];
  for (const { syntax, target } of references) {
    if (target.kind !== "toolset" || target.toolset !== skills) continue;
    const scope = await linkScope(compilation, syntax, scopes);
    if (scope) scopes.push(scope);
  }
  return scopes;
}

async function linkScope(
  compilation: Compilation,
  syntax: ToolsetSyntax,
  others: readonly ScopeDeclaration[],
): Promise<ScopeDeclaration | undefined> {
  const { diagnostics, host, files, realRoot: program } = compilation;
  const root = await rootOf(compilation, syntax);
  if (root === undefined) return undefined;
  const { value: name, span } = syntax.reference;
  const refuse = (message: string, note: string): undefined => diagnostics.report("toolset-config", { message, span, note });
  const twin = others.find((scope) => scope.name === name);
  if (twin) return refuse(`\`${name}\` has a scope of its name, and \`sandbox.paths\` declares another one`, "rename the scope");
  if (!/^[A-Za-z][\w-]*$/.test(name)) return refuse(`\`${name}\` is no name for the scope of its skills`, "name it by `_use`");
  const realRoot = await host.files.realPath(root).catch(() => root);
  const same = others.find((scope) => scope.realRoot === realRoot);
  if (same || isWithin(program, realRoot)) {
    const what = same ? `that of the scope \`${same.name}\`, too` : "the program's, or holds it";
    return refuse(`\`${name}\`: the folder of its skills is ${what}`, "give skills a folder of their own");
  }
  const scope = { name, root, realRoot, mode: "ro" } as const;
  const read = await filesOf(compilation, scope).catch((thrown: unknown) => errorMessage(thrown));
  if (typeof read === "string") {
    diagnostics.report("toolset-config", {
      message: `\`${name}\`: \`${syntax.config.value["root"]}\` is no folder that can be read: ${read}`,
      span,
    });
    return undefined;
  }
  files.holdFolder(root, new Map(digestsOf(read).map(([folder, digest]) => [join(root, folder), digest])));
  return { ...scope, pinned: read.pinned };
}

/** Opened as in a run: nothing is followed out of the folder, and nothing is read twice. */
function filesOf({ host, skillFiles, realRoot: programFolder }: Compilation, scope: ScopeDeclaration): Promise<SkillFiles> {
  return getOrMake(skillFiles, scope.root, async () => {
    const scopes = await host.openScopes([scope], { programFolder, missingRoots: "pretend" });
    return readSkillFiles(scopes, scope.name).finally(() => scopes.close());
  });
}

/** The folders of skills, each with the digest of all its files; "" has those beside them. */
function digestsOf({ pinned, texts }: SkillFiles): readonly (readonly [string, string])[] {
  const folderOf = (path: string) => path.slice(0, Math.max(0, path.indexOf("/")));
  const groups = Map.groupBy(Object.entries(pinned), ([path]) => (texts.has(folderOf(path)) ? folderOf(path) : ""));
  return [...groups].map(([folder, files]) => [folder, sha256(canonicalJson(files))] as const);
}

async function rootOf(compilation: Compilation, { config, configSpans, reference }: ToolsetSyntax): Promise<string | undefined> {
  const { root: value } = config.value;
  return typeof value === "string"
    ? rootFolder(compilation, { value, span: spanAt(configSpans, ["root"]) ?? reference.span }, "ro")
    : undefined;
}

/** Links the skills of a folder. Reports folders that give no skill, and tools that a skill asks for. */
export async function linkSkills(
  compilation: Compilation,
  syntax: ToolsetSyntax,
  config: SkillsConfig,
): Promise<Pick<ToolsetReference, "toolset" | "config" | "tools">> {
  const { value: name } = syntax.reference;
  const span = spanAt(syntax.configSpans, ["root"]) ?? syntax.reference.span;
  const report: Report = (code, message, note) =>
    compilation.diagnostics.report(code, { message: `\`${name}\`: ${message}`, span, ...(note === undefined ? {} : { note }) });
  const read = await compilation.skillFiles.get((await rootOf(compilation, syntax)) ?? "")?.catch(() => undefined);
  const found = read ? findSkills(read, config, report) : [];
  const digests = read ? digestsOf(read) : [];
  const linked = skillsToolset(config, { scope: name, skills: found });
  const rules = () =>
    digests.flatMap(([folder, digest]) => {
      const used = found.find((skill) => skill.folder === folder);
      const shown = digest.slice(0, 12);
      if (used) return [`use the skill ${used.name} (${shown}${describeSkill(used, read?.texts.get(folder) ?? "")})`];
      return folder === "" ? [`read the other files in ${config.root} (${shown})`] : [];
    });
  return { ...linked, toolset: { ...linked.toolset, rules } };
}

/** Its size when it is read, at four characters a token, and its wishes. */
function describeSkill({ allowedTools }: FoundSkill, text: string): string {
  const wishes = allowedTools.length > 0 ? `, asks for ${quoteNames(allowedTools)}` : "";
  return `, about ${formatCount(Math.ceil(text.length / 4))} tokens${wishes}`;
}

type Report = (code: "toolset-hint" | "toolset-warning", message: string, note?: string) => void;

function findSkills({ texts, unread, pinned }: SkillFiles, { root }: SkillsConfig, report: Report): readonly FoundSkill[] {
  const found: FoundSkill[] = [];
  for (const [folder, text] of texts) {
    const header = parseSkillFile(text, folder);
    const why = header && whyNoSkillName(header.name);
    const other = found.find((one) => one.name === header?.name);
    if (!header)
      report(
        "toolset-warning",
        `\`${folder}/SKILL.md\` has no header with a \`description\`, so no model is told of it`,
        "it has 16,384 characters at most",
      );
    else if (why !== undefined) report("toolset-warning", `\`${folder}\` is left out: its name is no name of a skill`, why);
    else if (other)
      report("toolset-warning", `\`${folder}\` and \`${other.folder}\` are both called \`${other.name}\`; the first counts`);
    else if (found.length === mostSkills) report("toolset-warning", `\`${folder}\` is left out: there are ${mostSkills} skills`);
    else found.push({ ...header, folder });
  }
  const rows = [...unread];
  for (const [path, why] of rows.slice(0, mostNamed)) report("toolset-warning", `\`${path || root}\` is not read: ${why}`);
  if (rows.length > mostNamed) report("toolset-warning", `${rows.length - mostNamed} more files are not read`);
  for (const folder of new Set(Object.keys(pinned).flatMap(folderIn)))
    if (!texts.has(folder) && !unread.has(`${folder}/SKILL.md`))
      report("toolset-hint", `the folder \`${folder}\` has no \`SKILL.md\`, so it is no skill`);
  if (found.length === 0) report("toolset-warning", `\`${root}\` has no skill`, "a skill is a folder with a `SKILL.md`");
  for (const { name, folder, allowedTools } of found) {
    if (name !== folder) report("toolset-hint", `the skill \`${name}\` lies in \`${folder}\`: it goes by its name`);
    if (allowedTools.length === 0) continue;
    const wish = `\`${name}\` asks for ${quoteNames(allowedTools)}`;
    report("toolset-hint", `${wish}; it gets what this worker's toolsets allow, and nothing else`);
  }
  return found;
}

/** The folder of the root that a file lies in, but for hidden ones, which are those of tools. */
function folderIn(path: string): readonly string[] {
  const [folder = "", ...rest] = path.split("/");
  return rest.length > 0 && !folder.startsWith(".") ? [folder] : [];
}
