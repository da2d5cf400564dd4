import { join, relative, resolve } from "node:path";
import type { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Span, Spanned } from "../diagnostics/source.ts";
import type { Host } from "../host/host.ts";
import type { ManifestFile } from "../language/manifest.ts";
import { usualGeneratedFolder } from "../language/shapes/generated-workers-shape.ts";
import type { WorkerFile } from "../language/worker-file.ts";
import { isRecord, type JsonValue } from "../protocol/json.ts";
import type { WorkerReach } from "../protocol/reach.ts";
import { sha256 } from "../util/sha256.ts";
import { isWithin } from "../util/within.ts";
import type { Compilation } from "./compilation.ts";
import { isFlag } from "./flag.ts";
import type { LoadedWorker } from "./load-worker.ts";

/** The folder of workers that were made in a run; the manifest can name another one. Reports one that is not below the program's. */
export function generatedFolder(root: string, manifest: ManifestFile | undefined, diagnostics: DiagnosticList): string {
  const written = manifest?.generated_workers?.value.folder;
  const folder = resolve(root, written?.value ?? usualGeneratedFolder);
  if (!written || (isWithin(folder, root) && folder !== root)) return folder;
  const message = `\`${written.value}\` is no folder below the program's`;
  diagnostics.report("reference-outside", { message, span: written.span });
  return join(root, usualGeneratedFolder);
}

/** True for a file in the folder of workers made in a run, links followed. */
export async function isGenerated(host: Host, folder: string, path: string): Promise<boolean> {
  if (isWithin(path, folder)) return true;
  const [realFolder, realPath] = await Promise.all([folder, path].map((one) => host.files.realPath(one).catch(() => one)));
  return isWithin(realPath ?? path, realFolder ?? folder);
}

/** Keys that a worker made in a run must not have. */
const refused = { fragments: "other files", system_fragments: "other files", extends: "other settings" } as const;

/** Keys that need a record of the worker's capability. */
const capabilities = [
  "model",
  "model_settings",
  "auth",
  "attachment_policy",
  "sandbox",
  "toolsets",
  "server_side_tools",
] as const;

/** The record of a worker that llm-do wrote, as it is on disk. Undefined without one: whoever wrote the file, it may do nothing. */
export async function readRecord(
  { records, root }: Compilation,
  { path, text }: { readonly path: string; readonly text: string },
): Promise<Pick<LoadedWorker, "creators" | "recorded"> | undefined> {
  const file = relative(root, path).replaceAll("\\", "/");
  const { creators, reach } = (await records.read({ folder: root, file, digest: sha256(text) })) ?? {};
  if (!Array.isArray(creators) || !isRecord(reach)) return undefined;
  return { creators: creators as LoadedWorker["creators"] & object, recorded: reach as unknown as WorkerReach };
}

/** A worker with a record of its capability: what its file does not name, it has nothing of. */
export function withRecord(compilation: Compilation, file: WorkerFile): WorkerFile {
  return { ...nothing(file), ...without(file, reportRefused(compilation, file)) };
}

/**
 * A worker that was made in a run, as far as it may go without a record of its capability: it has no tools, no scopes and
 * no attachments. Reports everything that the file says to no effect. Its texts are no templates: that is the linker's part.
 */
export function withoutCapability(
  compilation: Compilation,
  file: WorkerFile,
  why = "there is no record of what this worker may do",
): WorkerFile {
  const written = reportRefused(compilation, file);
  const withheld = capabilities.filter((key) => file[key] && !isOfUser(file[key]));
  // Keys that the file does not name were filled in, and have no place.
  for (const key of withheld.filter((one) => (file[one]?.span.end ?? 0) > 0)) {
    const message = `\`${key}\` has no effect: ${why}`;
    compilation.diagnostics.report("generated-capability", { message, span: file[key]?.span as Span });
  }
  return { ...without(file, [...written, ...withheld]), ...nothing(file) };
}

/** Reports keys that such a file must not have. */
function reportRefused({ diagnostics }: Compilation, file: WorkerFile): readonly string[] {
  const report = (key: string, span: Span, message: string) => {
    diagnostics.report("generated-refused", { message, span });
    return key;
  };
  const read = Object.entries(refused).flatMap(([key, what]) => {
    const written = file[key as keyof typeof refused];
    return written ? [report(key, written.span, `a worker that was made in a run takes no ${what}: \`${key}\``)] : [];
  });
  const coded = (["input", "output"] as const).flatMap((key) => {
    const written = file[key]?.value.kind === "reference" ? file[key] : undefined;
    const message = `\`${key}\` of a worker that was made in a run is data, and no reference to code`;
    return written ? [report(key, written.span, message)] : [];
  });
  const slow = (["input", "output"] as const).flatMap((key) => {
    const written = file[key];
    const keyword = written?.value.kind === "data" ? slowKeyword(written.value.jsonSchema) : undefined;
    if (!written || keyword === undefined) return [];
    const message = `\`${key}\` of a worker that was made in a run takes no \`${keyword}\`: checking a value could take forever`;
    return [report(key, written.span, message)];
  });
  return [...read, ...coded, ...slow];
}

/** With these the time of a check can grow exponentially with the length of the value. */
const slowKeywords = ["pattern", "patternProperties", "$ref", "$dynamicRef"];

/** The first of them in a schema. Names of fields are no keywords. */
function slowKeyword(schema: JsonValue): string | undefined {
  if (Array.isArray(schema)) return firstOf(schema);
  if (!isRecord(schema)) return undefined;
  const {
    properties,
    $defs,
    definitions,
    dependentSchemas,
    default: _,
    const: __,
    enum: ___,
    examples: ____,
    ...others
  } = schema;
  const named = [properties, $defs, definitions, dependentSchemas].flatMap((map) => Object.values(map ?? {}));
  return slowKeywords.find((keyword) => keyword in others) ?? firstOf([...Object.values(others), ...named]);
}

function firstOf(schemas: readonly JsonValue[]): string | undefined {
  return schemas.map(slowKeyword).find((keyword) => keyword !== undefined);
}

/** The user may choose its model. */
function isOfUser(written: Spanned<unknown> | undefined): boolean {
  return written !== undefined && isFlag(written.span) && typeof written.value === "string";
}

function without(file: WorkerFile, keys: readonly string[]): WorkerFile {
  return Object.fromEntries(Object.entries(file).filter(([key]) => !keys.includes(key))) as unknown as WorkerFile;
}

/** No scope, not even the program's folder, and no attachment. */
function nothing({ source }: WorkerFile): Pick<WorkerFile, "sandbox" | "attachment_policy"> {
  const span = { source, start: 0, end: 0 };
  return {
    sandbox: { value: { paths: { value: [], span } }, span },
    attachment_policy: { value: { max_attachments: { value: 0, span } }, span },
  };
}
