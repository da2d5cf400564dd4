import { join, resolve } from "node:path";
import type { DiagnosticCode } from "../diagnostics/catalogue.ts";
import type { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Span, Spanned } from "../diagnostics/source.ts";
import type { Host } from "../host/host.ts";
import { usualGeneratedFolder } from "../language/generated-workers-shape.ts";
import type { ManifestFile } from "../language/manifest.ts";
import type { WorkerFile } from "../language/worker-file.ts";
import { isWithin } from "../util/within.ts";
import type { Compilation } from "./compilation.ts";
import { isFlag } from "./flag.ts";

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
const capabilities = ["model", "model_settings", "attachment_policy", "sandbox", "toolsets", "server_side_tools"] as const;

/**
 * A worker that was made in a run, as far as it may go without a record of its capability: it has no tools, no scopes and
 * no attachments. Tells of everything that the file says to no effect. Its texts are no templates: that is the linker's part.
 */
export function withoutCapability({ diagnostics }: Compilation, file: WorkerFile): WorkerFile {
  const report = (code: DiagnosticCode, span: Span, message: string) => diagnostics.report(code, { message, span });
  for (const [key, what] of Object.entries(refused)) {
    const written = file[key as keyof typeof refused];
    if (written) report("generated-refused", written.span, `a worker that was made in a run takes no ${what}: \`${key}\``);
  }
  const coded = (["input", "output"] as const).filter((key) => file[key]?.value.kind === "reference");
  for (const key of coded) {
    const message = `\`${key}\` of a worker that was made in a run is data, and no reference to code`;
    report("generated-refused", file[key]?.span as Span, message);
  }
  const withheld = capabilities.filter((key) => file[key] && !isOfUser(file[key]));
  for (const key of withheld) {
    report(
      "generated-capability",
      file[key]?.span as Span,
      `\`${key}\` has no effect: there is no record of what this worker may do`,
    );
  }
  return { ...without(file, [...Object.keys(refused), ...coded, ...withheld]), ...nothing(file) };
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
