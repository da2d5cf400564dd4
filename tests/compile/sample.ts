import { cpSync, existsSync, mkdtempSync, readFileSync, realpathSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import { onTestFinished } from "vitest";
import type { Diagnostic } from "../../src/diagnostics/diagnostic.ts";
import { positionAt } from "../../src/diagnostics/position.ts";
import { type CompileRequest, compile } from "../../src/front/llm-do.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import type { Program, Worker } from "../../src/program/program.ts";

/** `options.json` of a case: the request, what is in the environment, and the folder below the case to stand in. */
export interface SampleOptions extends Omit<CompileRequest, "host" | "providers"> {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Files, by their path in the case, that the system does not let us read. */
  readonly unreadable?: readonly string[];
  /** Files and folders under another name than git can keep: `{ "modules": "node_modules" }`. The case is then copied first. */
  readonly mount?: Readonly<Record<string, string>>;
}

/** Compiles a folder of `samples/` on the real machine, standing in it. */
export async function compileSample(sample: string, { env = {}, cwd = ".", mount, unreadable = [], ...request }: SampleOptions) {
  const folder = mount ? copySample(sample, mount) : sample;
  const workingDirectory = join(folder, cwd);
  const host = createNodeHost({ workingDirectory, homeDirectory: join(folder, "home"), environment: env });
  const refused = new Set(unreadable.map((path) => join(folder, path)));
  const readText = (path: string): Promise<string> =>
    refused.has(path) ? Promise.reject(new Error("EACCES: permission denied")) : host.files.readText(path);
  return compile({ ...request, host: { ...host, files: { ...host.files, readText } } });
}

function copySample(sample: string, mount: Readonly<Record<string, string>>): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-sample-")));
  cpSync(sample, folder, { recursive: true });
  for (const [from, to] of Object.entries(mount)) renameSync(join(folder, from), join(folder, to));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function readIfThere(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

/** `unknown-toolset main.worker:3:5 error`; `-` in the place of what has none. */
export function showDiagnostic({ code, span, severity }: Diagnostic): string {
  if (!span) return `${code} - ${severity}\n`;
  const { line, column } = positionAt(span.source, span.start);
  return `${code} ${span.source.name.replaceAll(sep, "/")}:${line}:${column} ${severity}\n`;
}

/** The linked form in few words, without what depends on the machine. */
export function summarize(program: Program): object {
  const { entry, workers, root, files } = program;
  const place = (path: string): string => relative(root, path).replaceAll(sep, "/") || ".";
  const texts = (text: string): string => text.replaceAll(`${root}${sep}`, "").replaceAll(`${dirname(root)}${sep}`, "../");
  return {
    entry: entry.kind === "worker" ? entry.worker.id : `code ${entry.code.name}`,
    files: files.map(place).sort(),
    workers: Object.fromEntries([...workers.values()].map((worker) => [worker.id, summarizeWorker(worker, { place, texts })])),
  };
}

interface Showing {
  readonly place: (path: string) => string;
  readonly texts: (text: string) => string;
}

function summarizeWorker(worker: Worker, { place, texts }: Showing): object {
  const scopes = worker.scopes.map(({ name, root, mode, suffixes = [] }) => [name, [mode, place(root), ...suffixes].join(" ")]);
  return {
    model: worker.model ? `${texts(worker.model.id)} (${texts(worker.model.source)})` : null,
    scopes: Object.fromEntries(scopes),
    ...(worker.commands.networkEnabled || worker.commands.isolationRequired ? { commands: worker.commands } : {}),
    toolsets: Object.fromEntries(worker.toolsets.map(summarizeReference)),
    ...(worker.serverTools.length > 0 ? { serverTools: worker.serverTools } : {}),
    ...(Object.keys(worker.limits).length > 0 ? { limits: worker.limits } : {}),
  };
}

function summarizeReference({
  reference,
  approvals,
  prefix,
  worker,
  toolset,
  tools,
}: Worker["toolsets"][number]): [string, object] {
  const shared = { ...(prefix ? { prefix } : {}), ...(approvals.size > 0 ? { approvals: Object.fromEntries(approvals) } : {}) };
  if (worker) return [reference, { worker: worker().id, ...shared }];
  return [reference, { toolset: toolset.name, tools: tools.map(({ name }) => name), ...shared }];
}
