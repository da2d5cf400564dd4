import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Host } from "../../../host/host.ts";
import { createNodeHost } from "../../../host/node-host.ts";
import { openLoginFile, type StoredLogin } from "../../../host/own-files/login-file.ts";
import type { LoginSyntax } from "../../../language/user-config.ts";
import { beginDeviceLogin, beginLogin, isLoopback, type LoginTerms } from "../../../models/login/oauth.ts";
import { findServerTerms } from "../../../models/login/server-login.ts";
import { builtInProviders } from "../../../models/providers/providers.ts";
import { RunError } from "../../../runtime/run-error.ts";
import { errorMessage } from "../../../util/text/error-message.ts";
import { escapeText } from "../../../util/text/escape-text.ts";
import { exitCodes, Interrupted, UsageError } from "../../exit-codes.ts";
import { renderJson, writeResult, writeStderr } from "../../output.ts";
import { listenForSignals } from "../../process/signals.ts";
import { useProxies } from "../../process/use-proxies.ts";
import { readUserConfig } from "../../programs/user-config.ts";
import { renderColumns } from "../../render-columns.ts";

export interface OAuthFlags {
  readonly json?: boolean;
}

export interface LoginFlags {
  readonly device?: boolean;
}

/**
 * `llm-do oauth login PROVIDER|ADDRESS`: the user goes on in the browser, which comes back to a port of this machine, or, with `--device`,
 * types a code there. An address is that of an MCP server, which says itself how to log in, unless the configuration does.
 */
export async function loginCommand(given: string, { device = false }: LoginFlags): Promise<number> {
  const provider = nameOf(given);
  const { terms, port } = await findTerms(provider);
  const host = createNodeHost();
  await useProxies(host.environment, (message) => writeStderr(`llm-do: warning: ${message}\n`));
  using signals = listenForSignals();
  const attempt = { provider, terms, host, signal: signals.controller.signal };
  const logIn = device ? logInByCode(attempt) : logInByBrowser({ ...attempt, port });
  const stored = await logIn.catch((thrown: unknown) => fail(provider, thrown));
  await openLoginFile(host).update(provider, async () => stored);
  const users = isAddress(provider)
    ? "MCP servers at this address with `login: true`"
    : "workers with `auth: auto` or `auth: required`";
  writeStderr(`llm-do: you are logged in at ${provider}; ${users} use it\n`);
  return exitCodes.done;
}

interface LoginAttempt {
  readonly provider: string;
  /** Undefined: the server at the address says them. */
  readonly terms: LoginTerms | undefined;
  readonly host: Host;
  readonly signal: AbortSignal;
}

async function logInByBrowser({
  provider,
  terms,
  host,
  signal,
  port,
}: LoginAttempt & { readonly port: number }): Promise<StoredLogin> {
  await using listener = await listen(port);
  const access = { fetch: host.fetch, now: () => host.clock.now() };
  const found = terms ?? (await findServerTerms(provider, listener.redirectUri, access));
  const login = await beginLogin(found, listener.redirectUri, access);
  writeStderr(`llm-do: open this page to log in at ${provider}; Ctrl-C ends the wait\n\n  ${login.url}\n\n`);
  return await listener.receive(login.finish, signal);
}

/** Shows the server's words as they are to be typed; nothing of them can move the cursor. */
async function logInByCode({ provider, terms, host, signal }: LoginAttempt): Promise<StoredLogin> {
  if (!terms) throw new UsageError(`--device needs the OAuth server of ${provider} under \`logins\` of your configuration`);
  const { clock } = host;
  const access = { fetch: host.fetch, now: () => clock.now(), sleep: clock.sleep };
  const login = await beginDeviceLogin(terms, access);
  const [url, code, whole] = [login.url, login.code, login.wholeUrl ?? ""].map((text) => escapeText(text));
  const either = whole === "" ? "" : `, or open ${whole}`;
  writeStderr(
    `llm-do: to log in at ${provider}, open this page on any machine and type the code${either}; Ctrl-C ends the wait\n\n`,
  );
  writeStderr(`  ${url}\n  ${code}\n\n`);
  return login.finish(signal);
}

function fail(provider: string, thrown: unknown): never {
  if (thrown instanceof Interrupted || thrown instanceof UsageError) throw thrown;
  throw new RunError("authentication", `the login at ${provider} failed: ${describe(thrown)}`, { cause: thrown });
}

function describe(thrown: unknown): string {
  const { error_description: words, error } = thrown as { readonly error_description?: unknown; readonly error?: unknown };
  const said = [words, error].find((text) => typeof text === "string");
  return typeof said === "string" ? said : errorMessage(thrown);
}

function isAddress(name: string): boolean {
  return /^https?:\/\//i.test(name) && URL.canParse(name);
}

/** An address has one spelling. */
function nameOf(given: string): string {
  return isAddress(given) ? new URL(given).href : given;
}

interface FoundTerms {
  /** Undefined for an address that the configuration does not name. */
  readonly terms: LoginTerms | undefined;
  readonly port: number;
}

async function findTerms(provider: string): Promise<FoundTerms> {
  const { logins } = await readUserConfig();
  const found = logins?.value.find(({ name }) => nameOf(name.value) === provider)?.value.value;
  const shown = escapeText(provider, { keepBackslashes: true });
  if (isAddress(provider)) {
    requireSafe(provider);
    const { origin } = new URL(provider);
    return {
      terms: found && { ...toTerms(found), origin, address: provider, resource: provider },
      port: found?.port?.value ?? 0,
    };
  }
  if (!builtInProviders.some(({ name }) => name === provider)) throw new UsageError(`\`${shown}\` is no provider of llm-do`);
  if (found) return { terms: toTerms(found), port: found.port?.value ?? 0 };
  const { configFile } = createNodeHost();
  const names = (logins?.value ?? []).map(({ name }) => name.value).join(", ");
  throw new UsageError(`${configFile} says nothing about logins at ${shown}${names === "" ? "" : `; it has ${names}`}`);
}

function toTerms(syntax: LoginSyntax): LoginTerms {
  const { issuer, authorization_url: authorizationUrl, token_url: tokenUrl, client_id: clientId, address } = syntax;
  const { device_authorization_url: deviceUrl } = syntax;
  for (const url of [issuer, authorizationUrl, tokenUrl, deviceUrl, address]) if (url) requireSafe(url.value);
  return {
    ...(issuer ? { issuer: issuer.value } : {}),
    ...(authorizationUrl ? { authorizationUrl: authorizationUrl.value } : {}),
    ...(tokenUrl ? { tokenUrl: tokenUrl.value } : {}),
    ...(deviceUrl ? { deviceUrl: deviceUrl.value } : {}),
    clientId: clientId.value,
    scopes: syntax.scopes?.value ?? [],
    parameters: Object.fromEntries((syntax.parameters?.value ?? []).map(({ name, value }) => [name.value, value.value])),
    origin: new URL(address.value).origin,
    address: address.value,
  };
}

function requireSafe(url: string): void {
  if (new URL(url).protocol === "https:" || isLoopback(url)) return;
  throw new UsageError(`${url} has to begin with https: a token goes to it, or comes from it`);
}

interface Listener extends AsyncDisposable {
  readonly redirectUri: string;
  /** Resolves with what `finish` makes of the first redirect. Rejects as it does, or when the signal aborts. */
  receive<T>(finish: (callback: URLSearchParams) => Promise<T>, signal: AbortSignal): Promise<T>;
}

const callbackPath = "/callback";

/** Listens on this machine alone. */
async function listen(port: number): Promise<Listener> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  }).catch((thrown: unknown) => {
    throw new UsageError(`port ${port} cannot be used for the login: ${errorMessage(thrown)}`);
  });
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${callbackPath}`;
  return {
    redirectUri,
    receive: (finish, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
        server.on("request", (request, response) => {
          const url = new URL(request.url ?? "", redirectUri);
          if (request.method !== "GET" || url.pathname !== callbackPath) return response.writeHead(404).end();
          const answer = (words: string) =>
            response.writeHead(200, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(`${words}\n`);
          return finish(url.searchParams).then(
            (value) => answer("You are logged in, and can close this page.") && resolve(value),
            (thrown: unknown) => answer("The login failed; the terminal says why.") && reject(thrown),
          );
        });
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeIdleConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** `llm-do oauth status`. */
export async function loginStatusCommand({ json }: OAuthFlags): Promise<number> {
  const host = createNodeHost();
  const logins = Object.entries(await openLoginFile(host).read());
  const rows = logins.map(([provider, login]) => ({ provider, ...describeLogin(login, host.clock.now()) }));
  if (json) await writeResult(renderJson({ v: 1, logins: rows }));
  else if (rows.length === 0) writeStderr("llm-do: you are logged in nowhere\n");
  else await writeResult(renderColumns(rows.map(({ provider, address, state }) => [provider, address, state])));
  return exitCodes.done;
}

function describeLogin({ origin, expiresAt, refreshToken, loggedInAt }: StoredLogin, now: number) {
  const until = expiresAt === undefined ? null : new Date(expiresAt).toISOString();
  const isOver = expiresAt !== undefined && expiresAt <= now;
  const state =
    until === null
      ? "good"
      : isOver && refreshToken === undefined
        ? "over: log in again"
        : isOver
          ? "refreshed when it is used"
          : `good until ${until}`;
  return { address: origin, state, loggedInAt, expiresAt: until, refreshes: refreshToken !== undefined };
}

/** `llm-do oauth logout PROVIDER`. A login that is not there is a mistake. */
export async function logoutCommand(given: string): Promise<number> {
  const provider = nameOf(given);
  let was = false;
  await openLoginFile(createNodeHost()).update(provider, async (login) => {
    was = login !== undefined;
    return undefined;
  });
  if (!was) throw new UsageError(`you are not logged in at \`${escapeText(provider, { keepBackslashes: true })}\``);
  writeStderr(`llm-do: the login at ${provider} is forgotten\n`);
  return exitCodes.done;
}
