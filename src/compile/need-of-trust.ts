import { relative } from "node:path";
import type { Worker } from "../program/program.ts";
import { runsPrograms } from "../program/runs-programs.ts";
import type { Compilation } from "./compilation.ts";
import type { NeedOfTrust } from "./compile-error.ts";
import type { ProgramCode } from "./find-code.ts";
import { isInside } from "./is-inside.ts";
import type { LinkedServer } from "./link-providers.ts";

export interface Trusted {
  readonly code: ProgramCode;
  /** By path. */
  readonly workers: ReadonlyMap<string, Worker>;
  readonly servers: readonly LinkedServer[];
}

/** What of a program takes effect only when the user trusts its folder, with a reason for each kind. Undefined: nothing. */
export function needOfTrust(compilation: Compilation, { code, workers, servers }: Trusted): NeedOfTrust | undefined {
  const { root, realRoot, packages, variables } = compilation;
  const leaving = [...workers].flatMap(([path, worker]) => {
    const roots = worker.toolsets.length > 0 ? rootsBeyond(realRoot, worker) : [];
    return roots.length > 0 ? [{ path, worker, roots }] : [];
  });
  const running = [...workers].filter(([, worker]) => runsPrograms(worker));
  const beyond = [...new Set([...leaving.map(({ path }) => path), ...running.map(([path]) => path)])];
  const files = [...code.files, ...beyond, ...packages.outside];
  const addresses = addressesOf(servers);
  if (files.length + addresses.length === 0) return undefined;
  const place = (path: string): string => (isInside(root, path) ? relative(root, path) : path);
  const reasons = [
    ...reason("runs code", code.files.map(place)),
    ...reason("loads packages", code.packages),
    ...leaving.map(({ worker, roots }) => `reaches beyond its folder in ${worker.id}: ${roots.join(", ")}`),
    ...reason("has workers of packages beyond its folder", packages.outside),
    ...reason(
      "runs programs of this machine in",
      running.map(([, { id }]) => id),
    ),
    ...reason("has its models reached at", addresses),
    ...reason("takes variables of the environment", [...variables].sort()),
  ];
  return { root, files, addresses, reasons };
}

/** As the manifest writes them, each with the name of its provider. */
export function addressesOf(servers: readonly LinkedServer[]): string[] {
  return servers.map(({ name, address, key }) => `${address} (the provider ${name}${key ? `, with ${key.variable}` : ""})`);
}

/** Where scopes that the files name really lead, if that is outside of the program's folder. */
function rootsBeyond(realRoot: string, { scopes }: Worker): string[] {
  const real = scopes.filter(({ isChosen }) => !isChosen).map(({ root, realRoot: leads = root, mode }) => ({ leads, mode }));
  const outside = real.filter(({ leads }) => !isInside(realRoot, leads));
  return outside.map(({ leads, mode }) => `${mode === "rw" ? "reads and writes" : "reads"} ${leads}`);
}

const mostNames = 12;

function reason(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const shown = names.slice(0, mostNames).join(", ");
  return [`${what}: ${shown}${names.length > mostNames ? ` and ${names.length - mostNames} more` : ""}`];
}
