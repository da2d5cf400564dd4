import { dirname, join, relative } from "node:path";
import type { Source, Spanned } from "../../diagnostics/source.ts";
import { literalTemplate, parseTemplate, type Template } from "../../language/template.ts";
import type { RenderedPrompt, Worker } from "../../program/program.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import type { Compilation } from "../compilation.ts";
import { isFlag } from "../flag.ts";
import { filesAmong } from "../home.ts";
import type { LoadedWorker } from "../load-worker.ts";
import type { LinkedSchema } from "./link-schema.ts";

/**
 * The first request of a worker's call, as a function of its input. All its files are read and checked now; the function reads
 * nothing and runs no code; it throws a `TemplateError` if a value that a template needs is missing.
 */
export async function linkPrompt(
  compilation: Compilation,
  worker: LoadedWorker,
  input: LinkedSchema,
): Promise<Pick<Worker, "render" | "promptParts">> {
  const { file } = worker;
  const { jsonSchema } = input.schema;
  const context: TemplateContext = { compilation, worker, variables: input.known ? jsonSchema : undefined };
  const instructions = await linkTemplate(file.instructions, context);
  const prompt = file.prompt && (await linkTemplate(file.prompt, context));
  for (const text of [file.prompt, file.instructions]) if (text) warnOfOtherTemplates(text, context);
  const systemFragments = [
    ...(await readFragments(compilation, worker, file.system_fragments)),
    ...(await readHouseRules(compilation, worker)),
  ];
  const userFragments = await readFragments(compilation, worker, file.fragments);
  const render = (values: JsonObject): RenderedPrompt => {
    const system = instructions?.render(values).trim() ?? "";
    const used = instructions?.usedVariables ?? new Set();
    const user = prompt ? prompt.render(values) : renderInput(values, { used, jsonSchema });
    return {
      system: [system, ...systemFragments.map(({ text }) => text)].filter((part) => part !== ""),
      user: user.trim() === "" ? noInput : user,
      userFragments: userFragments.map(({ text }) => text),
    };
  };
  const written = [
    { path: "instructions", text: file.instructions.value.trim() },
    ...(file.prompt ? [{ path: "prompt", text: file.prompt.value }] : []),
  ];
  const parts = [...written, ...systemFragments, ...userFragments].filter(({ text }) => text !== "");
  return { render, promptParts: parts.map(({ path, text }) => ({ part: path, tokens: Math.ceil(text.length / 4) })) };
}

/** Warns of the notations of other templates: of comments, and of fields in a text that prints no field. */
function warnOfOtherTemplates({ value, span }: Spanned<string>, { compilation, worker, variables }: TemplateContext): void {
  if (worker.generated) return;
  const report = (written: string, note: string) => {
    const start = Math.max(span.start, span.source.text.indexOf(written, span.start));
    const place = { ...span, start, end: start + written.length };
    compilation.diagnostics.report("template-dollar", {
      message: `\`${written}\` is sent to the model as it stands`,
      span: place,
      note,
    });
  };
  const [comment] = /\{#\s[\s\S]*?#\}/.exec(value) ?? [];
  if (comment !== undefined) report(comment, "write `{% comment %}…{% endcomment %}`");
  const properties = isRecord(variables?.["properties"]) ? Object.keys(variables["properties"]) : [];
  const written = value.includes("{{") ? [] : value.match(/\$[A-Za-z_]\w*|\$?\{[A-Za-z_]\w*\}/g);
  const field = written?.find((text) => properties.includes(text.replace(/\W/g, "")));
  if (field !== undefined) report(field, `write \`{{ ${field.replace(/\W/g, "")} }}\``);
}

/** Providers refuse an empty user message. */
const noInput = "(no input)";

interface TemplateContext {
  readonly compilation: Compilation;
  readonly worker: LoadedWorker;
  readonly variables: JsonSchema | undefined;
}

async function linkTemplate(text: Spanned<string>, context: TemplateContext): Promise<Template | undefined> {
  if (context.worker.generated) return literalTemplate(text.value);
  const readInclude = (path: string): Promise<Source | undefined> => findInclude(text, path, context);
  const includeNames = (path: string): Promise<readonly string[]> => findIncludeNames(text, path, context);
  const { template, diagnostics } = await parseTemplate(text, { variables: context.variables, readInclude, includeNames });
  context.compilation.diagnostics.addAll(diagnostics);
  return template;
}

/** The folders that a template's files are looked for in. */
function includeFolders({ span }: Spanned<string>, { compilation, worker }: TemplateContext): readonly string[] {
  const folder = isFlag(span) ? dirname(worker.path) : compilation.files.folderOf(span);
  return [folder, join(worker.home.folder, "templates")];
}

/** Names of files beside the one that a path means, in the form of that path. */
async function findIncludeNames(text: Spanned<string>, path: string, context: TemplateContext): Promise<readonly string[]> {
  const { files } = context.compilation.host;
  const below = path.slice(0, path.lastIndexOf("/") + 1);
  const folders = includeFolders(text, context).map((folder) => files.names(join(folder, below)).catch(() => []));
  return (await Promise.all(folders)).flat().map((name) => below + name);
}

/**
 * In the folder of the file that holds the template, or in the program's `templates/`; never through a link that leads out. Both
 * are reserved, so that no file that is written later takes the place of the one that was found.
 */
async function findInclude(text: Spanned<string>, path: string, context: TemplateContext): Promise<Source | undefined> {
  const { compilation, worker } = context;
  const { span } = text;
  const { host, files, diagnostics } = compilation;
  const { home } = worker;
  const candidates = [...new Set(includeFolders(text, context).map((folder) => join(folder, path)))];
  for (const candidate of candidates) files.reserve(candidate);
  const [found, other] = await filesAmong(host, candidates);
  if (found === undefined) return undefined;
  if (other !== undefined) {
    const shown = [found, other].map((one) => `\`${relative(host.workingDirectory, one)}\``).join(" or ");
    const note = "rename one of them";
    diagnostics.report("template-ambiguous", { message: `\`${path}\` could be ${shown}`, span, note });
  }
  return files.read(found, { home, from: span });
}

interface Fragment {
  /** As it is written. */
  readonly path: string;
  readonly text: string;
}

/** The texts of the files that a worker's calls bring along. They are data: no template. */
async function readFragments(
  { files }: Compilation,
  { home }: LoadedWorker,
  paths: Spanned<readonly Spanned<string>[]> | undefined,
): Promise<readonly Fragment[]> {
  const texts: Fragment[] = [];
  for (const written of paths?.value ?? []) {
    const path = await files.resolve(written, home);
    const source = path === undefined ? undefined : await files.read(path, { home, from: written.span });
    const text = source?.text.replace(/^\uFEFF/, "") ?? "";
    if (text.trim() !== "") texts.push({ path: written.value, text });
  }
  return texts;
}

const houseRules = "AGENTS.md";

/** `context.agents`: the rules of the house, which other agents read, too. */
async function readHouseRules(
  { files, host, diagnostics, manifest }: Compilation,
  { file, home }: LoadedWorker,
): Promise<Fragment[]> {
  const wanted = file.context?.value.agents ?? manifest?.context?.value.agents;
  if (!wanted?.value) return [];
  const path = join(home.folder, houseRules);
  files.reserve(path);
  if ((await host.files.kind(path)) === undefined) {
    const message = `\`agents: true\` does nothing: there is no \`${houseRules}\` in ${relative(host.workingDirectory, home.folder) || "this folder"}`;
    diagnostics.report("toolset-warning", { message, span: wanted.span });
    return [];
  }
  const text = (await files.read(path, { home, from: wanted.span }))?.text.replace(/^\uFEFF/, "") ?? "";
  return text.trim() === "" ? [] : [{ path: houseRules, text }];
}

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
  const shown = left.filter(([name]) => name !== "input" && !isAttachment(jsonSchema, name));
  const { input } = values;
  if (shown.length === 0 && typeof input === "string" && input.trim() !== "") return input;
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
