import { nearestNames } from "../util/text/nearest-names.ts";
import { builtInProviders } from "./providers/providers.ts";

/** A model id taken apart. `id` is its one spelling: `provider:name`, the provider in lower case, the name as written. */
export interface ModelId {
  readonly id: string;
  readonly provider: string;
  readonly name: string;
}

/** The reason why a text is no model id. `message` says what to write instead and lists the providers. */
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
  const listing = `Providers: ${providers.join(", ")}.`;
  if (trimmed === "") return fail("empty", text, `The model id is empty. Write ${form}. ${listing}`);
  const split = trimmed.search(/[:/]/);
  const provider = trimmed.slice(0, Math.max(split, 0)).trim().toLowerCase();
  if (provider === "") {
    const guess = guessProvider(trimmed, providers);
    const meant = guess ? `Did you mean "${guess}:${trimmed}"?` : `Write ${form}.`;
    return fail("no-provider", trimmed, `"${trimmed}" has no provider. ${meant} ${listing}`, guess);
  }
  const name = trimmed.slice(split + 1).trim();
  if (name === "") return fail("no-name", text, `"${trimmed}" names no model after its provider. Write ${form}.`);
  if (providers.includes(provider)) return { ok: true, value: { id: `${provider}:${name}`, provider, name } };
  const [near] = nearestNames(provider, providers, 1);
  const meant = near ? ` Did you mean "${near}"?` : "";
  const message = `"${provider}" in "${trimmed}" is no known provider.${meant} ${listing}`;
  return fail("unknown-provider", trimmed, message, near);
}

const form = 'provider:name, for example "anthropic:claude-sonnet-4-5"';

function fail(type: ModelIdError["type"], text: string, message: string, suggestion?: string): ParsedModelId {
  return { ok: false, error: { type, text, message, ...(suggestion ? { suggestion } : {}) } };
}

function guessProvider(name: string, providers: readonly string[]): string | undefined {
  const guess = builtInProviders.find(({ families }) => families?.test(name))?.name;
  return guess !== undefined && providers.includes(guess) ? guess : undefined;
}
