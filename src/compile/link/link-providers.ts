import type { Span, Spanned } from "../../diagnostics/source.ts";
import type { ProviderPackageSyntax, ProviderSyntax, ServerSyntax } from "../../language/shapes/server-shapes.ts";
import { baseUrlProblem } from "../../language/shapes/text-shapes.ts";
import type { Provider } from "../../models/provider.ts";
import type { DeclaredProvider, NamedPackage, NamedServer } from "../../models/providers/named-provider.ts";
import type { Worker } from "../../program/program.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Compilation } from "../compilation.ts";
import { expandText, variablesIn } from "../expand-variables.ts";
import { findExport } from "../modules/find-export.ts";

/** A provider as far as compiling needs it. */
export type KnownProvider = Pick<Provider, "name" | "keyVariables" | "serverTools" | "priceTable" | "loadOptionRules">;

/** A provider of the manifest that a worker's model is reached by. */
export interface LinkedServer {
  readonly name: string;
  /** Its address, or its package, as the manifest writes it: variables are not filled in, so that it can be shown. */
  readonly address: string;
  /** The variable of its key. */
  readonly key?: string;
  /** Undefined for a package whose code is not trusted: nothing of it was imported. */
  readonly provider: DeclaredProvider | undefined;
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
export async function linkProviders(
  compilation: Compilation,
  workers: Iterable<Worker>,
  known: readonly KnownProvider[],
): Promise<readonly LinkedServer[]> {
  const linkedWorkers = [...workers];
  const used = new Set(linkedWorkers.flatMap(({ model }) => (model ? [providerOf(model.id)] : [])));
  const generated = compilation.manifest?.generated_workers?.value.model;
  const canCreate = linkedWorkers.some(({ toolsets }) => toolsets.some(({ toolset }) => toolset.name === "dynamic_workers"));
  if (generated && canCreate) used.add(providerOf(generated.value));
  const declared = compilation.manifest?.providers?.value ?? [];
  const mine = declared.filter(({ name }) => used.has(name.value) && !known.some((one) => one.name === name.value));
  const linked = await Promise.all(
    mine.map(({ name, value }) => linkProvider(compilation, { name: name.value, syntax: value.value, known })),
  );
  return linked.filter((one) => one !== undefined);
}

/** The part of a model's id before the colon. */
export function providerOf(id: string): string {
  return id.slice(0, id.indexOf(":"));
}

interface Linking<Syntax> {
  readonly name: string;
  readonly syntax: Syntax;
  readonly known: readonly KnownProvider[];
}

async function linkProvider(
  compilation: Compilation,
  { syntax, ...linking }: Linking<ProviderSyntax>,
): Promise<LinkedServer | undefined> {
  if ("package" in syntax) return linkPackage(compilation, { ...linking, syntax });
  return linkServer(compilation, { ...linking, syntax });
}

function linkServer(compilation: Compilation, { name, syntax, known }: Linking<ServerSyntax>): LinkedServer | undefined {
  const { base_url: address, api_key: key } = syntax;
  const isSafe = [address, ...(key ? [key] : [])].map((text) => checkKeys(compilation, text, known)).every(Boolean);
  const baseUrl = expandText(compilation, address.value, address.span);
  if (!isSafe || !checkAddress(compilation, baseUrl, address)) return undefined;
  const linked = key && linkKey(compilation, key, `api_key of ${name}`);
  const provider = { name, baseUrl, ...(linked ? { key: linked } : {}) };
  return { name, address: address.value, ...(linked ? { key: linked.variable } : {}), provider };
}

/** The export is looked for, and its value with it if the program is trusted. */
async function linkPackage(
  compilation: Compilation,
  { name, syntax, known }: Linking<ProviderPackageSyntax>,
): Promise<LinkedServer | undefined> {
  const { package: specifier, export: exported, base_url: address, api_key: key, options } = syntax;
  const written = textsOf(options?.value).map((value) => ({ value, span: options?.span ?? specifier.span }));
  const texts = [...(address ? [address] : []), ...(key ? [key] : []), ...written];
  const isSafe = texts.map((text) => checkKeys(compilation, text, known)).every(Boolean);
  const baseUrl = address && expandText(compilation, address.value, address.span);
  if (!isSafe || (address && !checkAddress(compilation, baseUrl ?? "", address))) return undefined;
  const reference = { value: `${specifier.value}:${exported.value}`, span: specifier.span };
  const found = await findExport(compilation, reference, compilation.home);
  if (!found) return undefined;
  const linked = key && linkKey(compilation, key, `api_key of ${name}`);
  const shown = {
    name,
    address: `${address ? `${address.value}, by ` : "the address of "}${reference.value}`,
    ...(linked ? { key: linked.variable } : {}),
  };
  const settings = options ? fillOptions(compilation, options) : {};
  if (!found.verified) return { ...shown, provider: undefined };
  const { value: create } = found;
  if (typeof create !== "function") {
    const message = `\`${reference.value}\` is no function that creates a provider`;
    compilation.diagnostics.report("invalid-value", { message, span: exported.span });
    return undefined;
  }
  const provider: NamedPackage = {
    ...{ name, package: specifier.value, create: create as NamedPackage["create"], options: settings },
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(linked ? { key: linked } : {}),
  };
  return { ...shown, provider };
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap((one) => textsOf(one as JsonValue)) : [];
}

/** Fills in the variables of texts. */
function fillOptions(compilation: Compilation, { value, span }: Spanned<JsonObject>): JsonObject {
  const fill = (_key: string, member: unknown) => (typeof member === "string" ? expandText(compilation, member, span) : member);
  return JSON.parse(JSON.stringify(value), fill);
}

function checkAddress({ diagnostics }: Compilation, expanded: string, { span, value }: Spanned<string>): boolean {
  const problem = expanded.includes("${") ? undefined : baseUrlProblem(expanded);
  if (problem === undefined) return true;
  diagnostics.report("invalid-value", { message: `\`${value}\` ${problem}`, span });
  return false;
}

/** The key of a provider goes to its own address only. */
export function checkKeys(
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
