import { nearestNames } from "../util/nearest-names.ts";
import { builtInProviders } from "./providers.ts";

/** A model id taken apart. `id` is its one spelling: `provider:name`, the provider in lower case, the name as written. */
export interface ModelId {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
}

/** Why a text is no model id. `message` says what to write instead and lists the providers. */
export interface ModelIdError {
  readonly type: "empty" | "no-provider" | "no-name" | "unknown-provider";
  readonly text: string;
  readonly message: string;
  /** The provider that was probably meant. */
  readonly suggestion?: string;
}

export type ParsedModelId = { readonly ok: true; readonly value: ModelId } | { readonly ok: false; readonly error: ModelIdError };

/**
 * Reads `provider:name`; `provider/name` is the same. The first `:` or `/` splits, the rest is the name with whatever it
 * holds (`openrouter:anthropic/claude-sonnet-4`, `ollama:llama3:8b`, `scripted:/a/b.ts`). A provider that is not among
 * `providers` is an error too.
 */
export function parseModelId(text: string, providers: readonly string[]): ParsedModelId {
  const trimmed = text.trim();
  if (trimmed === "")
    return fail({ type: "empty", text, message: `The model id is empty. Write ${form}. ${listing(providers)}` });
  const split = trimmed.search(/[:/]/);
  const provider = (split < 0 ? trimmed : trimmed.slice(0, split)).trim().toLowerCase();
  const name = split < 0 ? "" : trimmed.slice(split + 1).trim();
  if (split < 0 || provider === "") return fail(noProvider(trimmed, providers));
  if (name === "") {
    const message = `"${trimmed}" names no model after its provider. Write ${form}.`;
    return fail({ type: "no-name", text, message });
  }
  if (!providers.includes(provider)) return fail(unknownProvider(trimmed, provider, providers));
  return { ok: true, value: { id: `${provider}:${name}`, provider, name } };
}

const form = 'provider:name, for example "anthropic:claude-sonnet-4-5"';

function fail(error: ModelIdError): ParsedModelId {
  return { ok: false, error };
}

function listing(providers: readonly string[]): string {
  return `Providers: ${providers.join(", ")}.`;
}

function noProvider(text: string, providers: readonly string[]): ModelIdError {
  const suggestion = guessProvider(text, providers);
  const meant = suggestion ? ` Did you mean "${suggestion}:${text}"?` : "";
  return {
    type: "no-provider",
    text,
    message: `"${text}" has no provider. Write ${form}.${meant} ${listing(providers)}`,
    ...(suggestion ? { suggestion } : {}),
  };
}

function unknownProvider(text: string, provider: string, providers: readonly string[]): ModelIdError {
  const suggestion = nearestNames(provider, providers, 1)[0];
  const meant = suggestion ? ` Did you mean "${suggestion}"?` : "";
  return {
    type: "unknown-provider",
    text,
    message: `"${provider}" in "${text}" is no known provider.${meant} ${listing(providers)}`,
    ...(suggestion ? { suggestion } : {}),
  };
}

function guessProvider(name: string, providers: readonly string[]): string | undefined {
  const guess = builtInProviders.find(({ families }) => families?.test(name))?.name;
  return guess !== undefined && providers.includes(guess) ? guess : undefined;
}
