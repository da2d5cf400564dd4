import { UsageError } from "../exit-codes.ts";

type Variables = Readonly<Record<string, string | undefined>>;

/** Node has this from 24.14 on. */
interface ProxiedHttp {
  setGlobalProxyFromEnv?(variables: Variables): unknown;
}

/** Addresses of this machine are never reached through a proxy. */
const thisMachine = "localhost,127.0.0.1,[::1]";

/**
 * Sends the requests of this process through the proxies that `HTTP_PROXY` and `HTTPS_PROXY` name, but for the hosts of `NO_PROXY`.
 * `NODE_USE_ENV_PROXY=0` turns it off. Throws a `UsageError` for a proxy without an address.
 */
export async function useProxies(environment: Variables, warn: (message: string) => unknown): Promise<void> {
  const [http, https, none = ""] = ["http_proxy", "https_proxy", "no_proxy"].map((name) => read(environment, name));
  const switched = environment["NODE_USE_ENV_PROXY"];
  if ((!http && !https) || switched === "0") return;
  const node: ProxiedHttp = (await import("node:http")) as object;
  if (node.setGlobalProxyFromEnv) {
    node.setGlobalProxyFromEnv({
      ...(http ? { HTTP_PROXY: toAddress("HTTP_PROXY", http) } : {}),
      ...(https ? { HTTPS_PROXY: toAddress("HTTPS_PROXY", https) } : {}),
      NO_PROXY: none === "" ? thisMachine : `${none},${thisMachine}`,
    });
  } else if (switched === undefined) {
    const version = process.versions.node;
    warn(
      `the proxy of the environment is not used on Node ${version}: set NODE_USE_ENV_PROXY=1, too, or use Node 24.14 or newer`,
    );
  }
}

/** Both spellings are in use, and the one in small letters goes before. */
function read(environment: Variables, name: string): string | undefined {
  return environment[name]?.trim() || environment[name.toUpperCase()]?.trim() || undefined;
}

/** The value can hold a password: no message shows it. */
function toAddress(variable: string, value: string): string {
  const address = value.includes("://") ? value : `http://${value}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return address;
  throw new UsageError(`${variable} must be the http or https address of a proxy, such as http://proxy.example:3128`);
}
