import { randomUUID } from "node:crypto";
import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { join } from "node:path";
import { nameSet } from "../../util/text/name-set.ts";
import { isWithin } from "../../util/within.ts";
import { isReadable, isSettled, knownEntriesOf, statOf, versionOf } from "../command/look.ts";
import { programFolders } from "../command/program-folders.ts";
import type { Copy, Mount } from "./mount.ts";

/** HOME and the folder for temporary files in a wall with its own file system. */
export const wallHome = "/run/llm-do";
export const wallTemporary = "/tmp";

/**
 * An allow-list of `/etc`, which holds keys, passwords of services and tokens under any names; root in a container could read them
 * all. Configuration of registries (`npmrc`, `pip.conf`, `gitconfig`) is left out for its tokens.
 */
const configuration = nameSet(
  // Users, hosts and networks.
  "group passwd shells host.conf hostname hosts gai.conf networks nsswitch.conf protocols resolv.conf rpc services",
  // Languages, times and terminals.
  "inputrc locale.alias locale.conf localtime papersize terminfo timezone fonts",
  // Libraries, versions and types of files.
  "alternatives ld.so.cache ld.so.conf ld.so.conf.d debian_version lsb-release os-release magic magic.mime mailcap mime.types",
  // Certificates.
  "ca-certificates ca-certificates.conf crypto-policies pki/ca-trust pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf",
  "ssl/cert.pem ssl/certs ssl/openssl.cnf",
);

/** Versions and packages are part of these names. */
const configurationOf = /^(?:ImageMagick-\d|ghostscript$|groff$|java-?\d|perl$|php$|python\d|ruby$|R$|texmf$)/;

/**
 * Finds the parts of the system that programs need: not its users, its state or its secrets. A scope below which one of them lies shows
 * its links as they are: nothing can be mounted over a link.
 */
export function findSystemView(scopes: readonly Mount[] = []): readonly Mount[] {
  const names = knownEntriesOf("/etc").map(({ name }) => name);
  const nested = [...configuration].filter((name) => name.includes("/"));
  const shown = names.filter((name) => configuration.has(name) || configurationOf.test(name));
  const files = [...shown, ...nested].flatMap((name) => toFileMount(join("/etc", name)));
  const system = [...programFolders.flatMap(toProgramMount), ...files];
  return system.filter(({ path }) => !scopes.some((scope) => isWithin(path, scope.path)) || !isLink(path));
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

/** Writable folders that are gone afterwards. */
export const privateFolders: readonly Mount[] = [wallTemporary, "/var/tmp", "/run", wallHome].map((path) => ({
  kind: "empty",
  path,
}));

/** `/bin` is often a link to `/usr/bin`, and stays one. */
function toProgramMount(path: string): readonly Mount[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return [];
  if (stats.isSymbolicLink()) return [{ kind: "link", path, target: readlinkSync(path) }];
  return stats.isDirectory() ? [{ kind: "read-only", path, source: path }] : [];
}

/** Follows links: the target is shown under this name. */
function toFileMount(path: string): readonly Mount[] {
  const stats = statOf(path);
  if (stats === undefined || !(stats.isFile() || stats.isDirectory())) return [];
  return [{ kind: "read-only", path, source: path, copies: toCopies(path, stats) }];
}

/** Files that are larger, and folders with more entries, are mounted. */
const mostCopied = { bytes: 262_144, entries: 16 };

/** The files of a small tree; undefined if it is larger, or holds more than files. */
function toCopies(path: string, stats: Stats): readonly Copy[] | undefined {
  const copies = stats.isFile() ? [toCopy(path, stats)] : filesOf(path)?.map((file) => toCopy(file, statOf(file)));
  return copies?.every((one) => one !== undefined) ? copies : undefined;
}

/** Looks at no file: most folders of `/etc` are too large. */
function filesOf(folder: string, depth = 0): readonly string[] | undefined {
  const entries = knownEntriesOf(folder);
  // A copy of an empty folder would be none, as would one that cannot be listed.
  if (entries.length === 0 || entries.length > mostCopied.entries || depth > 2) return undefined;
  if (!entries.every((entry) => entry.isFile() || entry.isDirectory())) return undefined;
  const paths = entries.map((entry) => [join(folder, entry.name), entry.isFile()] as const);
  const files = paths.map(([path, isFile]) => (isFile ? [path] : filesOf(path, depth + 1)));
  return files.every((one) => one !== undefined) ? files.flat() : undefined;
}

function toCopy(path: string, stats: Stats | undefined): Copy | undefined {
  if (!stats?.isFile() || stats.size > mostCopied.bytes) return undefined;
  const isForAll = (stats.mode & 0o444) === 0o444;
  if (!isForAll && !isReadable(path)) return undefined;
  return { path, mode: stats.mode & 0o555, version: isSettled(stats) ? versionOf(stats) : randomUUID() };
}
