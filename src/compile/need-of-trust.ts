import { relative } from "node:path";
import type { ScopeDeclaration } from "../host/scopes/scopes.ts";
import { runsPrograms } from "../program/runs-programs.ts";
import { isWithin } from "../util/within.ts";
import type { Compilation } from "./compilation.ts";
import type { NeedOfTrust } from "./compile-error.ts";
import type { LinkedServer } from "./link/link-providers.ts";
import type { OutlineParts } from "./powers/outline.ts";

type Trusted = Pick<OutlineParts, "code" | "workers" | "servers" | "entryScopes">;

/**
 * Returns the parts of a program that take effect only when the user trusts its folder, with all reasons, those of which there are
 * fewest first. Undefined: nothing.
 */
export function needOfTrust(compilation: Compilation, parts: Trusted): NeedOfTrust | undefined {
  const { code, workers, servers, entryScopes } = parts;
  const { root, realRoot, packages, variables } = compilation;
  const leaving = [...workers].flatMap(([path, worker]) => {
    const roots = worker.toolsets.length > 0 ? rootsBeyond(realRoot, worker.scopes) : [];
    return roots.length > 0 ? [{ path, worker, roots }] : [];
  });
  const ofEntry = rootsBeyond(realRoot, entryScopes);
  const running = [...workers].filter(([, worker]) => runsPrograms(worker));
  const isOnline = ([, { commands }]: (typeof running)[number]) => commands.networkEnabled;
  const idsOf = (found: typeof running) => found.map(([, { id }]) => id);
  const starting = [...workers].flatMap(([path, { id, toolsets }]) =>
    toolsets.flatMap(({ toolset, rules = [] }) => (toolset.requires?.includes("trust") ? [{ path, id, rules }] : [])),
  );
  const beyond = [...new Set([...leaving, ...starting].map(({ path }) => path).concat(running.map(([path]) => path)))];
  const scripts = code.scriptsOutside.filter((path) => !code.files.includes(path));
  const files = [...code.files, ...beyond, ...scripts, ...packages.outside];
  const addresses = addressesOf(servers);
  if (files.length + addresses.length === 0) return undefined;
  const place = (path: string): string => (isWithin(path, root) ? relative(root, path) : path);
  const reasons = [
    ...reason("runs code", code.files.map(place)),
    ...reason("runs programs of this machine in", idsOf(running.filter((one) => !isOnline(one)))),
    ...reason("runs programs of this machine, which may use the network, in", idsOf(running.filter(isOnline))),
    ...starting.flatMap(({ id, rules }) => rules.map((rule) => `${rule}, in ${id}`)),
    ...addresses.map((address) => `has its models reached at ${address}`),
    ...reason("takes variables of the environment", [...variables].sort()),
    ...reason("has models played by files beyond its folder", scripts),
    ...reason("has workers of packages beyond its folder", packages.outside),
    ...ofEntry.map((what) => `reaches beyond its folder in its code: ${what}`),
    ...leaving.flatMap(({ worker, roots }) => roots.map((what) => `reaches beyond its folder in ${worker.id}: ${what}`)),
    ...reason("loads packages", code.packages),
  ];
  return { root, files, addresses, reasons };
}

/** As the manifest writes them, each with the name of its provider. */
export function addressesOf(servers: readonly LinkedServer[]): string[] {
  return servers.map(({ name, address, key }) => `${address} (the provider ${name}${key ? `, with ${key}` : ""})`);
}

/** Lists the real folders of scopes that files declare, if they lie outside of the program's folder. */
function rootsBeyond(realRoot: string, scopes: readonly ScopeDeclaration[]): string[] {
  const outside = scopes.filter(({ isChosen, root, realRoot: leads = root }) => !isChosen && !isWithin(leads, realRoot));
  return outside.map(({ mode, root, realRoot: leads = root, writeApproval }) => {
    const free = writeApproval === false ? ", without a question" : "";
    return mode === "rw" ? `reads and writes ${leads}${free}` : `reads ${leads}`;
  });
}

const namesInRow = 12;

/** A row for each dozen of names. */
function reason(what: string, names: readonly string[]): string[] {
  const rows = Array.from({ length: Math.ceil(names.length / namesInRow) }, (_, row) =>
    names.slice(row * namesInRow, (row + 1) * namesInRow),
  );
  return rows.map((row) => `${what}: ${row.join(", ")}`);
}
