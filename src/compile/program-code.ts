import { join, relative } from "node:path";
import { diagnose } from "../diagnostics/diagnose.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import type { Host } from "../host/host.ts";
import { errorMessage } from "../util/error-message.ts";
import { exportNames } from "./export-names.ts";

/** A module of the program: its exports, or, where nothing may be imported, only their names. */
export interface ProgramCode {
  readonly path: string;
  readonly exports: ReadonlyMap<string, unknown>;
  /** False where the module was only read: the values are unknown. */
  readonly imported: boolean;
}

const toolFiles = ["tools.ts", "tools.js", "tools.mjs", "tools/index.ts"];

/** The program's tools, if it has any. The first of the four places counts. */
export async function findToolsFile(host: Host, root: string): Promise<string | undefined> {
  for (const name of toolFiles) {
    const path = join(root, name);
    if ((await host.files.kind(path)) === "file") return path;
  }
  return undefined;
}

export interface LoadCodeOptions {
  readonly host: Host;
  /** The program's folder is trusted: its code may run. */
  readonly trusted: boolean;
  readonly report: (diagnostic: Diagnostic) => void;
}

/** Imports a module of the program, or reads its export names where it is not trusted. */
export async function loadCode(path: string, { host, trusted, report }: LoadCodeOptions): Promise<ProgramCode> {
  try {
    if (trusted) return { path, exports: new Map(Object.entries(await host.importModule(path))), imported: true };
    const names = await exportNames(await host.files.readText(path));
    return { path, exports: new Map(names.map((name) => [name, undefined])), imported: false };
  } catch (thrown) {
    const shown = relative(host.workingDirectory, path);
    report(diagnose("code-failed", { message: `\`${shown}\` does not load: ${errorMessage(thrown)}` }));
    return { path, exports: new Map(), imported: trusted };
  }
}
