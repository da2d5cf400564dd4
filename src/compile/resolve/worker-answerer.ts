import { dirname, resolve } from "node:path";
import { parseWorkerFile } from "../../language/parse-worker-file.ts";
import type { Compilation } from "../compilation.ts";
import type { Home } from "../home.ts";

/** An export of the program's code. */
interface Export {
  /** Absolute. */
  readonly path: string;
  readonly name: string;
}

/**
 * Leaves out exports that answer one of the workers of the same name first (`code`): there the name means the worker, whose calls get to
 * the export. Reads the workers' files only where there is an export.
 */
export async function withoutAnswerers<E extends Export>(
  { files }: Compilation,
  workers: readonly { readonly path: string; readonly home: Home }[],
  exported: readonly E[],
): Promise<readonly E[]> {
  if (workers.length === 0 || exported.length === 0) return exported;
  const answerers = await Promise.all(
    workers.map(async ({ path, home }) => {
      const source = await files.read(path, { home, from: undefined });
      const code = source && parseWorkerFile(source).file?.code;
      const [, module, name] = /^(.+):([A-Za-z_$][\w$]*)$/.exec(code?.value.from.value ?? "") ?? [];
      return module === undefined ? undefined : { path: resolve(dirname(path), module), name };
    }),
  );
  return exported.filter(({ path, name }) => !answerers.some((one) => one?.path === path && one.name === name));
}
