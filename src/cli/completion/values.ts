import { existsSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { Argument, type Option } from "commander";
import { folderNames } from "../../compile/home.ts";
import { createNodeHost } from "../../host/node-host.ts";
import { listModels } from "../../models/model-catalog.ts";
import { builtInProviders } from "../../models/providers/providers.ts";
import { isRecord } from "../../protocol/json.ts";
import { limitNames } from "../../protocol/usage.ts";
import { entryOf } from "../../ui/explain/unused-roots.ts";
import { compileToShow } from "../programs/open-program.ts";
import { listTopics, readPage } from "../programs/read-pages.ts";
import { aliasesOf, readUserConfig } from "../programs/user-config.ts";
import { streamRuns, takeFirst } from "../records/find-runs.ts";

export interface Candidate {
  /** Whole. What ends in `/`, `=` or `:` is the beginning of a word. */
  readonly value: string;
  readonly description: string;
}

export interface Suggestion {
  readonly candidates: readonly Candidate[];
  /** Any file fits, too: the shell lists them. */
  readonly takesFiles: boolean;
}

/** The word as far as it is written, and the arguments before it. */
export interface Written {
  readonly word: string;
  readonly args: readonly string[];
}

type Values = (written: Written) => Promise<readonly Candidate[]> | readonly Candidate[];

/** The values of arguments and flags, by the argument's name or the flag's long form. */
const values: Readonly<Record<string, Values>> = {
  target: ({ word }) => programsIn(word),
  folder: ({ word }) => foldersIn(word).map((value) => ({ value, description: "folder" })),
  run: listRuns,
  provider: () => builtInProviders.map(({ name, description }) => ({ value: name, description })),
  topic: () => listTopics().map((value) => ({ value, description: readPage(value).title.replaceAll("`", "") })),
  model: listModelNames,
  pattern: listModelNames,
  "--model": listModelNames,
  "--entry": async ({ args: [target = "."] }) => {
    const names = await folderNames(createNodeHost(), target).workerNames();
    return names.map((value) => ({ value, description: "worker" }));
  },
  "--limit": () => limitNames.map((name) => ({ value: `${name}=`, description: "limit of the run" })),
  "--input": listFields,
  "--scope": listScopes,
};

const takeFiles = ["--attachment", "--output", "--events", "--input-json"];

/** The values of an argument or of a flag. What cannot be found out is left out. */
export async function valuesOf(of: Argument | Option, written: Written): Promise<Suggestion> {
  const name = of instanceof Argument ? of.name() : (of.long ?? "");
  const choices = (of.argChoices ?? []).map((value) => ({ value, description: "" }));
  const list = Object.hasOwn(values, name) ? values[name] : undefined;
  const found = list && choices.length === 0 ? await Promise.resolve(list(written)).catch(() => []) : choices;
  return { candidates: found, takesFiles: takeFiles.includes(name) };
}

/** Folders, programs among them, and worker files. */
function programsIn(word: string): readonly Candidate[] {
  const folders = foldersIn(word).map((value) => {
    const isProgram = existsSync(join(expandHome(value), "main.worker"));
    return isProgram ? { value: value.slice(0, -1), description: "program" } : { value, description: "folder" };
  });
  const files = entriesIn(word).filter((path) => path.endsWith(".worker"));
  return [...folders, ...files.map((value) => ({ value, description: "worker" }))];
}

function foldersIn(word: string): readonly string[] {
  return entriesIn(word).flatMap((path) => (isFolder(expandHome(path)) ? [`${path}/`] : []));
}

/** Paths that the word begins, as it is written. */
function entriesIn(word: string): readonly string[] {
  const folder = word.slice(0, word.lastIndexOf("/") + 1);
  try {
    const names = readdirSync(expandHome(folder) || ".").sort();
    return names.filter((name) => !name.startsWith(".") && name !== "node_modules").map((name) => `${folder}${name}`);
  } catch {
    return [];
  }
}

function expandHome(path: string): string {
  return path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

async function listRuns(): Promise<readonly Candidate[]> {
  const newest = await takeFirst(streamRuns(undefined), mostRuns);
  return [
    { value: "last", description: "the newest run" },
    ...newest.map(({ runId, root }) => ({ value: runId, description: root })),
  ];
}

const mostRuns = 50;

/** The user's aliases, and the providers; after a provider's name its listed models: all models would be a list of hundreds. */
export async function listModelNames({ word }: Pick<Written, "word">): Promise<readonly Candidate[]> {
  const aliases = aliasesOf(await readUserConfig());
  const own = [...aliases].map(([value, description]) => ({ value, description }));
  const provider = builtInProviders.find(({ name }) => word.startsWith(`${name}:`));
  if (provider) return (await listModels(`${provider.name}:*`, [provider])).map(({ id }) => ({ value: id, description: "" }));
  return [...own, ...builtInProviders.map(({ name, description }) => ({ value: `${name}:`, description }))];
}

async function outlineOf({ args: [target = "."] }: Written) {
  const { outline } = await compileToShow([target], {});
  return { outline, worker: outline && entryOf(outline) };
}

async function listFields(written: Written): Promise<readonly Candidate[]> {
  const { worker } = await outlineOf(written);
  const fields = worker && isRecord(worker.input["properties"]) ? Object.entries(worker.input["properties"]) : [];
  return fields.map(([name, schema]) => {
    const description = isRecord(schema) ? schema["description"] : undefined;
    return { value: `${name}=`, description: typeof description === "string" ? description : "field of the input" };
  });
}

async function listScopes(written: Written): Promise<readonly Candidate[]> {
  const { outline } = await outlineOf(written);
  const names = outline?.workers.flatMap(({ scopes }) => scopes.map(({ name }) => name)) ?? [];
  return [...new Set(names)].map((name) => ({ value: `${name}=`, description: "scope" }));
}
