import { join, relative } from "node:path";
import { type ManifestFile, parseManifest } from "../language/manifest.ts";
import type { Compilation } from "./compilation.ts";
import type { LocatedProgram } from "./locate-target.ts";

export const manifestName = "llm-do.yaml";

/** Reads the program's `llm-do.yaml`, if it has one; in the form of listed files, if it is listed. */
export async function loadManifest(
  { root, listed }: LocatedProgram,
  { host, files, diagnostics }: Pick<Compilation, "host" | "files" | "diagnostics">,
): Promise<ManifestFile | undefined> {
  if (!listed) await reportLookAlikes(root, { host, diagnostics });
  const path = join(root, manifestName);
  const isThere = listed ? listed.includes(path) : (await host.files.kind(path)) !== undefined;
  const source = isThere ? await files.read(path, { home: { folder: root } }) : undefined;
  if (!source) return undefined;
  const { file, diagnostics: found } = parseManifest(source);
  diagnostics.addAll(found);
  return file;
}

/** A file that its author probably took for the manifest. Its policy would not hold. */
const lookAlike = /^\.?llm[-_. ]?do\.(?:ya?ml|json|toml)$/i;

/** Files of older programs, which nothing reads. */
const olderFiles: readonly (readonly [RegExp, string])[] = [
  [/^(?:project|program)\.(?:ya?ml|json)$/, "the manifest of a program is `llm-do.yaml`"],
  [/^tools\.py$/, "tools are TypeScript: write them in `tools.ts`"],
  [/\.agent$/, "a worker is a `.worker` file"],
];

/** Returns what to write in place of a file of older programs. */
export function noteOnOlderFile(name: string): string | undefined {
  return olderFiles.find(([pattern]) => pattern.test(name))?.[1];
}

async function reportLookAlikes(root: string, { host, diagnostics }: Pick<Compilation, "host" | "diagnostics">): Promise<void> {
  for (const name of await host.files.names(root).catch(() => [])) {
    const note = noteOnOlderFile(name);
    const isLookAlike = name !== manifestName && lookAlike.test(name);
    const path = join(root, name);
    if ((!isLookAlike && note === undefined) || (await host.files.kind(path)) !== "file") continue;
    const text = await host.files.readText(path, { maxBytes: 100_000, within: root }).catch(() => "");
    const source = { name: relative(host.workingDirectory, path), text };
    const span = { source, start: 0, end: Math.max(0, text.split(/\r?\n/, 1)[0]?.length ?? 0) };
    const message = `\`${name}\` is not read`;
    if (isLookAlike) diagnostics.report("manifest-name", { message, span, note: `rename it to \`${manifestName}\`` });
    else diagnostics.report("file-ignored", { message, span, note });
  }
}
