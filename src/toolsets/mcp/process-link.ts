import { resolve } from "node:path";
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
  const run = async () =>
    host.commands.run({
      ...{ command: { type: "argv", argv: [command, ...args] }, scopes, cwd: scopes.resolve(`program/${cwd}`) },
      ...{ network, isolationRequired: isolated, unisolated: !isolated, hidesCredentials: true },
      ...{ environment: env, converse: transport.converse },
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
  return { transport, ended: ended.signal, stop };
}
