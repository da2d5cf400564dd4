import type { Span, Spanned } from "../diagnostics/source.ts";
import type { ProviderSyntax } from "../language/server-shapes.ts";
import { baseUrlProblem } from "../language/text-shapes.ts";
import type { NamedServer } from "../models/named-provider.ts";
import type { Provider } from "../models/provider.ts";
import type { Worker } from "../program/program.ts";
import type { Compilation } from "./compilation.ts";
import { expandText, variablesIn } from "./expand-variables.ts";

/** A provider as far as compiling needs it. */
export type KnownProvider = Pick<Provider, "name" | "keyVariables" | "serverTools" | "priceTable" | "loadOptionRules">;

/** A server of the manifest that a worker's model is reached at. */
export interface LinkedServer extends NamedServer {
  /** Its address as the manifest writes it: variables are not filled in, so that it can be shown. */
  readonly address: string;
}

/** The names that models can begin with: of the providers that there are, and of those that the manifest declares. */
export function providerNames({ manifest, diagnostics }: Compilation, known: readonly KnownProvider[]): readonly string[] {
  const names = known.map(({ name }) => name);
  const declared = (manifest?.providers?.value ?? []).flatMap(({ name: { value, span } }) => {
    if (!names.includes(value)) return [value];
    const message = `\`${value}\` is a provider that llm-do has already`;
    diagnostics.report("provider-taken", { message, span, note: "give it another name" });
    return [];
  });
  return [...names, ...declared];
}

/** Links the manifest's providers that the program's models use. An unused one needs no variables and no trust. */
export function linkProviders(
  compilation: Compilation,
  workers: Iterable<Worker>,
  known: readonly KnownProvider[],
): readonly LinkedServer[] {
  const used = new Set([...workers].flatMap(({ model }) => (model ? [providerOf(model.id)] : [])));
  const declared = compilation.manifest?.providers?.value ?? [];
  return declared.flatMap(({ name, value }) => {
    if (!used.has(name.value) || known.some((one) => one.name === name.value)) return [];
    return linkServer(compilation, { name: name.value, syntax: value.value, known }) ?? [];
  });
}

/** The part of a model's id before the colon. */
export function providerOf(id: string): string {
  return id.slice(0, id.indexOf(":"));
}

interface ServerLinking {
  readonly name: string;
  readonly syntax: ProviderSyntax;
  readonly known: readonly KnownProvider[];
}

function linkServer(compilation: Compilation, { name, syntax, known }: ServerLinking): LinkedServer | undefined {
  const { base_url: address, api_key: key } = syntax;
  const isSafe = [address, ...(key ? [key] : [])].map((text) => checkKeys(compilation, text, known)).every(Boolean);
  const baseUrl = expandText(compilation, address.value, address.span);
  if (!isSafe || !checkAddress(compilation, baseUrl, address)) return undefined;
  return {
    name,
    baseUrl,
    address: address.value,
    ...(key ? { key: linkKey(compilation, key, `api_key of ${name}`) } : {}),
  };
}

function checkAddress({ diagnostics }: Compilation, expanded: string, { span, value }: Spanned<string>): boolean {
  const problem = expanded.includes("${") ? undefined : baseUrlProblem(expanded);
  if (problem === undefined) return true;
  diagnostics.report("invalid-value", { message: `\`${value}\` ${problem}`, span });
  return false;
}

/** The key of a provider goes to its own address only. */
function checkKeys(
  { diagnostics }: Compilation,
  { value, span }: { readonly value: string; readonly span: Span },
  known: readonly KnownProvider[],
): boolean {
  const owned = variablesIn(value).flatMap((variable) => {
    const owner = known.find(({ keyVariables }) => keyVariables.includes(variable));
    return owner ? [{ variable, owner: owner.name }] : [];
  });
  for (const { variable, owner } of owned) {
    const message = `\`${variable}\` is the key of \`${owner}\`, and goes to its address only`;
    const note = "put the key for this address into a variable of its own";
    diagnostics.report("provider-key", { message, span, note });
  }
  return owned.length === 0;
}

/** A key that is written out is kept out of sight all the same. */
function linkKey(compilation: Compilation, { value, span }: Spanned<string>, fallback: string): NamedServer["key"] & object {
  const [variable = fallback] = variablesIn(value);
  const expanded = expandText(compilation, value, span);
  if (!compilation.secrets.has(variable)) compilation.secrets.set(variable, expanded);
  return { variable, value: expanded };
}
