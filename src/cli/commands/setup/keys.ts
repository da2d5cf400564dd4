import { createNodeHost } from "../../../host/node-host.ts";
import { openKeyFile, type StoredKey } from "../../../host/own-files/key-file.ts";
import { findKeyVariable } from "../../../models/login/stored-keys.ts";
import type { Provider } from "../../../models/provider.ts";
import { builtInProviders } from "../../../models/providers/providers.ts";
import { escapeText } from "../../../util/text/escape-text.ts";
import { nearestNames } from "../../../util/text/nearest-names.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { renderJson, writeResult, writeStderr } from "../../output.ts";
import { listenForSignals } from "../../process/signals.ts";
import { renderColumns } from "../../render-columns.ts";
import { readStdin } from "../../run/read-stdin.ts";
import { atTerminal } from "../../terminal/ask-yes-or-no.ts";

export interface KeysFlags {
  readonly json?: boolean;
}

const withKeys = builtInProviders.filter(({ keyVariables }) => keyVariables.length > 0);

/** `llm-do keys set PROVIDER`: keeps a key from stdin, or from the terminal. */
export async function setKeyCommand(name: string): Promise<number> {
  const provider = findProvider(name);
  const host = createNodeHost();
  const key = await readKey(provider.name);
  const file = openKeyFile(host);
  const setAt = new Date(host.clock.now()).toISOString();
  await file.update(provider.name, async () => ({ key, setAt }));
  const variable = findKeyVariable(provider, host.environment);
  const shadow = variable === undefined ? "" : `; ${variable} is set, and is used while it is`;
  writeStderr(`llm-do: the key of ${provider.name} is kept in ${file.path}${shadow}\n`);
  return exitCodes.done;
}

interface ListedKey {
  readonly provider: string;
  /** The variable of the environment, or `keys`. */
  readonly source: string;
  /** Masked. */
  readonly key: string;
  readonly setAt: string | null;
  /** False if the environment has another one. */
  readonly used: boolean;
}

/** `llm-do keys list`: the keys of the environment and the kept ones, masked. */
export async function listKeysCommand({ json }: KeysFlags): Promise<number> {
  const host = createNodeHost();
  const stored = await openKeyFile(host).read();
  const keys = withKeys.flatMap((provider) => listKeys(provider, { stored, environment: host.environment }));
  if (json) await writeResult(renderJson({ v: 1, keys }));
  else if (keys.length === 0) writeStderr("llm-do: no key is kept, and the environment holds none\n");
  else await writeResult(renderColumns(keys.map(toCells)));
  return exitCodes.done;
}

interface KeySources {
  readonly stored: Readonly<Record<string, StoredKey>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

function listKeys(provider: Provider, { stored, environment }: KeySources): readonly ListedKey[] {
  const { name } = provider;
  const variable = findKeyVariable(provider, environment);
  const kept = Object.hasOwn(stored, name) ? stored[name] : undefined;
  const value = (variable === undefined ? undefined : environment[variable]) ?? "";
  return [
    ...(variable === undefined ? [] : [{ provider: name, source: variable, key: maskKey(value), setAt: null, used: true }]),
    ...(kept
      ? [{ provider: name, source: "keys", key: maskKey(kept.key), setAt: kept.setAt, used: variable === undefined }]
      : []),
  ];
}

function toCells({ provider, source, key, setAt, used }: ListedKey): readonly string[] {
  const from = setAt === null ? source : `kept since ${setAt.slice(0, 10)}`;
  return [provider, key, used ? from : `${from}, not used: the environment has one`];
}

/** The last four characters of a key that is long enough to be no password; nothing of any other. */
function maskKey(key: string): string {
  return key.length >= 20 ? `…${key.slice(-4)}` : "…";
}

/** `llm-do keys rm PROVIDER`. A key that is not kept is a mistake. */
export async function removeKeyCommand(name: string): Promise<number> {
  const provider = findProvider(name);
  const host = createNodeHost();
  let wasKept = false;
  await openKeyFile(host).update(provider.name, async (entry) => {
    wasKept = entry !== undefined;
    return undefined;
  });
  const variable = findKeyVariable(provider, host.environment);
  const left = variable === undefined ? "" : `; ${variable} of the environment is still set`;
  if (!wasKept) throw new UsageError(`no key of ${provider.name} is kept${left}`);
  writeStderr(`llm-do: the key of ${provider.name} is removed${left}\n`);
  return exitCodes.done;
}

function findProvider(written: string): Provider {
  const name = written.toLowerCase();
  const found = withKeys.find((provider) => provider.name === name);
  if (found) return found;
  const shown = escapeText(written.slice(0, 80));
  if (builtInProviders.some((provider) => provider.name === name)) throw new UsageError(`${shown} takes no key`);
  const near = nearestNames(
    name,
    withKeys.map((provider) => provider.name),
  );
  const hint = near.length > 0 ? `did you mean ${near.join(" or ")}?` : "llm-do models lists the providers";
  // A key in the place of a provider is not repeated.
  throw new UsageError(`${looksLikeKey(written) ? "that" : `\`${shown}\``} is no provider of llm-do; ${hint}`);
}

function looksLikeKey(text: string): boolean {
  return text.length > 24 || /^(sk|pk|gsk|xai|AIza|key)[-_A-Z0-9]/.test(text);
}

/** Reads the key of a provider. It never appears in a message. */
async function readKey(provider: string): Promise<string> {
  if (!process.stdin.isTTY) {
    using signals = listenForSignals();
    const onWait = () => writeStderr("llm-do: reading the key from stdin\n");
    return checkKey((await readStdin("the key", { signal: signals.controller.signal, onWait })).trim());
  }
  const text = `The key of ${provider}; it is not shown:\n`;
  const question = { text, isSecret: true, read: (line: string | undefined) => ({ answer: line?.trim() ?? "" }) };
  const why = `there is no terminal to ask at: llm-do keys set ${provider} < FILE`;
  return checkKey(await atTerminal(why, (terminal, signal) => terminal.ask(question, signal)));
}

function checkKey(key: string): string {
  if (key === "") throw new UsageError("no key was given, and nothing has changed");
  if (/^[\x21-\x7e]{1,8192}$/.test(key)) return key;
  throw new UsageError("that is no key: a key is one word of printable characters; nothing has changed");
}
