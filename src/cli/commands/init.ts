import { lstat, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { findTaken, kindOf, writeNewFiles } from "../../host/files/new-files.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { commandName, quoteWord as quote } from "../command-name.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { writeResult, writeStderr } from "../output.ts";
import { createInitFiles } from "../programs/init-files.ts";
import { type Template, type TemplateName, templates } from "../programs/init-templates.ts";

export interface InitFlags {
  readonly template: TemplateName;
  readonly name?: string;
  readonly model?: string;
}

/** `llm-do init [FOLDER]`: a program that runs at once. Overwrites nothing, and asks nothing. */
export async function initCommand(folder: string, { template, name, model }: InitFlags): Promise<number> {
  checkFlags({ name, model });
  const files = await createInitFiles({ name: name ?? (basename(resolve(folder)) || "program"), template, model });
  await refuseTaken(folder, files.keys());
  const ignoreFile = join(folder, ".gitignore");
  const ignored = await withIgnoreLine(ignoreFile, ".llm-do/");
  await writeNewFiles(folder, files, () => writeFile(ignoreFile, ignored));
  if (basename(process.cwd()) === folder && (await kindOf("main.worker")) !== undefined)
    writeStderr(
      `llm-do: the working directory is \`${folder}\` itself, and holds a program: the new one is in ${resolve(folder)}\n`,
    );
  await writeResult(renderDone(folder, { files, template: templates[template], model }));
  return exitCodes.done;
}

function checkFlags({ name, model }: { readonly name: string | undefined; readonly model: string | undefined }): void {
  if (name?.trim() === "") throw new UsageError("--name is empty; without it the folder's name is taken");
  if (model !== undefined && !/^[^\s:/]+[:/]\S+$/.test(model))
    throw new UsageError(`--model ${model}: a model is named provider:name, such as anthropic:claude-sonnet-4-5`);
}

/** Beside these, what is made would mean something else, or nothing. */
const rivals = ["tools.js", "tools.mjs", "tools/index.ts", "workers/main.worker", "workers/main/worker.worker"];

async function refuseTaken(folder: string, paths: Iterable<string>): Promise<void> {
  if ((await kindOf(resolve(folder))) === "other") throw new UsageError(`${folder} is not a folder`);
  const taken = await findTaken(folder, [...paths, ...rivals]);
  // It gets a line more where it is there: never through a link, which can lead anywhere.
  if (!(await isFileOrMissing(join(folder, ".gitignore")))) taken.push(".gitignore");
  if (taken.length === 0) return;
  const lines = taken.map((path) => `\n  ${join(folder, path)}`).join("");
  throw new UsageError(`nothing was made, because init overwrites nothing, and there is already:${lines}`);
}

interface Done {
  readonly files: ReadonlyMap<string, string>;
  readonly template: Template;
  readonly model: string | undefined;
}

function renderDone(folder: string, { files, template, model }: Done): string {
  const target = quote(folder);
  const command = commandName();
  const trust = template.trust ? " --trust" : "";
  const words = template.words((path) => quote(join(folder, path)));
  const asked = words === "" ? "" : ` ${words}`;
  const script = model === undefined ? "" : ` --model ${quote(`scripted:${join(folder, template.script)}`)}`;
  const own = [...files.keys()].filter((path) => !path.startsWith("schema/"));
  return `Made in ${folder}: ${own.join(", ")}, .gitignore, and schema/ for editors

Run it; ${template.script} plays the model, without a key:
  ${command} ${target}${script}${trust}${asked}
Make it yours by these lines, and run it again:
${renderChanges(folder, files, template)}
Check it, test it, and run it on a model once its key is set:
  ${command} check ${target}
  ${command} test ${target}${trust}
  ${command} ${target}${model === undefined ? " --model anthropic:claude-sonnet-4-5" : ""}${asked}
`;
}

/** The lines to change, as places that a terminal or an editor opens. */
function renderChanges(folder: string, files: ReadonlyMap<string, string>, { changes }: Template): string {
  const places = changes.map(([path, line]) => {
    const lines = (files.get(path) ?? "").split("\n");
    return `${join(folder, path)}:${lines.findIndex((text) => text.trimStart().startsWith(line)) + 1}`;
  });
  const width = Math.max(...places.map(({ length }) => length));
  return changes.map(([, , meaning], index) => `  ${(places[index] ?? "").padEnd(width)}  ${meaning}`).join("\n");
}

async function isFileOrMissing(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isFile() ?? true;
}

/** The text of a `.gitignore` that has the line: the same text where it is in it, none where there is no file. */
async function withIgnoreLine(path: string, line: string): Promise<string> {
  const text = await createNodeHost()
    .files.readText(path)
    .catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return "";
      throw error;
    });
  const bare = line.replace(/\/$/, "");
  if (text.split(/\r?\n/).some((written) => [bare, line, `/${bare}`, `/${line}`].includes(written.trim()))) return text;
  return `${text}${text === "" || text.endsWith("\n") ? "" : "\n"}${line}\n`;
}
