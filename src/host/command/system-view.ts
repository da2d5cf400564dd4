import { lstat, readdir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import { nameSet } from "../../util/name-set.ts";
import type { Mount } from "./mount.ts";
import { programFolders } from "./program-folders.ts";

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

/** Finds the parts of the system that programs need: not its users, its state or its secrets. */
export async function findSystemView(): Promise<readonly Mount[]> {
  const names = await readdir("/etc").catch(() => []);
  const nested = [...configuration].filter((name) => name.includes("/"));
  const shown = names.filter((name) => configuration.has(name) || configurationOf.test(name));
  const files = await Promise.all([...shown, ...nested].map((name) => toFileMount(join("/etc", name))));
  const folders = await Promise.all(programFolders.map(toProgramMount));
  return [...folders, ...files].flat();
}

/** Writable folders that are gone afterwards. */
export const privateFolders: readonly Mount[] = [wallTemporary, "/var/tmp", "/run", wallHome].map((path) => ({
  kind: "empty",
  path,
}));

/** `/bin` is often a link to `/usr/bin`, and stays one. */
async function toProgramMount(path: string): Promise<readonly Mount[]> {
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return [];
  if (stats.isSymbolicLink()) return [{ kind: "link", path, target: await readlink(path) }];
  return stats.isDirectory() ? [{ kind: "read-only", path, source: path }] : [];
}

/** Follows links: the target is shown under this name. */
async function toFileMount(path: string): Promise<readonly Mount[]> {
  const stats = await stat(path).catch(() => undefined);
  return stats?.isFile() || stats?.isDirectory() ? [{ kind: "read-only", path, source: path }] : [];
}
