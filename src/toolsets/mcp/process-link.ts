import { dirname, join, relative, resolve, sep } from "node:path";
import type { Conversation } from "../../host/commands.ts";
import { isWithin } from "../../util/within.ts";
import type { LocalServer } from "./config.ts";
import type { ServerHost, ServerLink } from "./server-link.ts";
import { createProcessTransport } from "./transport.ts";

/** Longest delay of Node's timers. Calls have limits of their own. */
const forever = 2 ** 31 - 1;

interface ProcessSetting {
  readonly host: ServerHost;
  readonly folder: string;
}

/** Starts a server as a process, behind the wall. `folder`: the program's. */
export async function openProcessLink(server: LocalServer, { host, folder }: ProcessSetting): Promise<ServerLink> {
  const { command, args = [], env = {}, cwd = ".", reads = [], network = false, isolated = true } = server;
  const roots = [folder, ...reads.map((root) => resolve(folder, root))];
  // The name of a scope is part of what is said of it: a folder that is not there.
  const nameOf = (index: number) => (index === 0 ? "program" : `reads: ${reads[index - 1]}`);
  const scopes = await host.openScopes(roots.map((root, index) => ({ name: nameOf(index), root, mode: "ro" })));
  const stopping = new AbortController();
  const ended = new AbortController();
  const transport = createProcessTransport((why) => stopping.abort(new Error(why)));
  let hasBegun = false;
  const converse: Conversation = (write) => {
    hasBegun = true;
    return transport.converse(write);
  };
  const run = async () =>
    host.commands.run({
      ...{ command: { type: "argv", argv: [command, ...args] }, scopes, cwd: scopes.resolve(`program/${cwd}`) },
      ...{ network, isolationRequired: isolated, unisolated: !isolated, hidesCredentials: true },
      ...{ environment: env, converse },
      ...{ timeoutMilliseconds: forever, maxOutputBytes: 2000, signal: stopping.signal },
    });
  const finished = run()
    .then(
      ({ exitCode, stderr }) =>
        new Error(`it has ended with the exit code ${exitCode}${stderr === "" ? "" : `: ${stderr.trim()}`}`),
      (thrown: unknown) => (thrown instanceof Error ? thrown : new Error(String(thrown))),
    )
    .then(async (why) => {
      ended.abort(why);
      transport.end();
      await scopes.close();
    });
  const stop = async () => {
    stopping.abort(new Error("the run has closed it"));
    await finished;
  };
  return { transport, ended: ended.signal, hasBegun: () => hasBegun, stop };
}

/**
 * Says that something of a server's command line is outside of what the server can see, or that it or the packages beside it are a link to
 * such a folder. Returns an empty text if nothing is.
 */
export async function describeUnseen(server: LocalServer, { host: { files }, folder }: ProcessSetting): Promise<string> {
  const { command, args = [], cwd = ".", reads = [], isolated = true } = server;
  if (!isolated) return "";
  const real = (path: string) => files.realPath(path).catch(() => path);
  const roots = await Promise.all([folder, ...reads.map((root) => resolve(folder, root))].map(real));
  const words = [command, ...args].flatMap((word) => [word, join("node_modules/.bin", word), join("node_modules", word)]);
  for (const word of [...words, "node_modules"]) {
    const path = resolve(folder, cwd, word);
    if (!isWithin(path, folder) || (await files.kind(path)) === undefined) continue;
    const target = await real(path);
    if (roots.some((root) => isWithin(target, root))) continue;
    const packages = target.slice(0, target.lastIndexOf(`${sep}node_modules${sep}`) + 1);
    const seen =
      packages === "" ? ((await files.kind(target)) === "directory" ? target : dirname(target)) : join(packages, "node_modules");
    return `; \`${relative(folder, path)}\` leads to ${target}, which the server cannot see: write \`reads: [${seen}]\` into its entry`;
  }
  return describeOutside(await findOutside(server, { files, folder, roots }));
}

/** Folders of the system, which a server sees anyway, or never. */
const systemFolders = /^\/(?:usr|bin|lib|lib64|etc|dev|proc|sys)(?:\/|$)/;

/** Returns what the arguments of a server name that is there, and outside of the folders that it can see. */
async function findOutside(
  { args = [], cwd = "." }: LocalServer,
  { files, folder, roots }: { readonly files: ServerHost["files"]; readonly folder: string; readonly roots: readonly string[] },
): Promise<readonly { readonly word: string; readonly reads: string }[]> {
  const found: { readonly word: string; readonly reads: string }[] = [];
  for (const arg of args) {
    const word = arg.slice(arg.startsWith("-") ? arg.indexOf("=") + 1 : 0);
    const path = resolve(folder, cwd, word);
    const real = await files.realPath(path).catch(() => path);
    if (!/[\\/]|^\.\.$/.test(word) || systemFolders.test(path) || roots.some((root) => isWithin(real, root))) continue;
    const kind = await files.kind(path);
    if (kind === undefined) continue;
    const packages = path.indexOf(`${sep}node_modules${sep}`);
    const seen = packages >= 0 ? join(path.slice(0, packages), "node_modules") : kind === "directory" ? path : dirname(path);
    found.push({ word, reads: word.startsWith(sep) ? seen : relative(folder, seen) });
  }
  return found;
}

function describeOutside(found: Awaited<ReturnType<typeof findOutside>>): string {
  if (found.length === 0) return "";
  const names = found.map(({ word }) => `\`${word}\``).join(" and ");
  const reads = [...new Set(found.map((one) => one.reads))].join(", ");
  return `; ${names} ${found.length === 1 ? "is" : "are"} outside of what the server can see: write \`reads: [${reads}]\` into its entry`;
}
