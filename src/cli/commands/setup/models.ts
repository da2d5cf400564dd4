import { createNodeHost } from "../../../host/node-host.ts";
import { openKeyFile, type StoredKey } from "../../../host/own-files/key-file.ts";
import { createProviderEnvironment } from "../../../models/login/provider-environment.ts";
import { ModelError } from "../../../models/model.ts";
import { type ListedModel, listModels } from "../../../models/model-catalog.ts";
import { priceTable } from "../../../models/prices.ts";
import type { Provider } from "../../../models/provider.ts";
import { builtInProviders } from "../../../models/providers/providers.ts";
import { formatCount } from "../../../util/text/format-count.ts";
import { nearestNames } from "../../../util/text/nearest-names.ts";
import { UsageError } from "../../exit-codes.ts";
import { renderJson, writeResult, writeStderr } from "../../output.ts";
import { renderColumns } from "../../render-columns.ts";

export interface ModelsFlags {
  readonly json?: boolean;
}

/** `llm-do models [PATTERN]`: the providers and what each still needs; with a pattern, the listed models that fit it. */
export async function modelsCommand(pattern: string | undefined, { json }: ModelsFlags): Promise<number> {
  const host = createNodeHost();
  const stored = await openKeyFile(host).read();
  const providers = builtInProviders.map((provider) => describeProvider(provider, { environment: host.environment, stored }));
  if (pattern === undefined) {
    await writeResult(json ? renderJson({ providers }) : renderColumns(providers.map(toCells)));
    return 0;
  }
  const environment = createProviderEnvironment(host, { mayImport: () => false, keys: [] });
  const models = await listModels(pattern, builtInProviders, environment).catch((error: unknown) => {
    throw error instanceof ModelError ? new UsageError(error.message) : error;
  });
  if (models.length === 0) throw new UsageError(`no listed model fits ${pattern}; ${await suggest(pattern)}`);
  if (json) {
    const rows = models.map((model) => ({
      ...model,
      ...providers.find(({ name }) => model.id.startsWith(`${name}:`)),
      name: undefined,
    }));
    await writeResult(renderJson({ priceTable, models: rows }));
    return 0;
  }
  await writeResult(renderColumns(models.map(toModelCells)));
  if (models.some(({ price }) => price))
    writeStderr(`llm-do: dollars for a million tokens of input and output, from ${priceTable.source} of ${priceTable.date}\n`);
  return 0;
}

interface DescribedProvider extends Pick<Provider, "name" | "description"> {
  /** Steps before its models can be used; empty if none. */
  readonly needs: readonly string[];
  readonly attachments: readonly string[] | null;
  readonly serverTools: readonly string[];
}

interface Accounts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly stored: Readonly<Record<string, StoredKey>>;
}

function describeProvider(provider: Provider, { environment, stored }: Accounts): DescribedProvider {
  const { name, description, keyVariables, insteadOfKey = [], package: wanted, attachments = null, serverTools = {} } = provider;
  const variables = [...keyVariables, ...insteadOfKey];
  const baseUrl = `${name.toUpperCase().replaceAll("-", "_")}_BASE_URL`;
  const isSet =
    provider.needsKey === false ||
    Object.hasOwn(stored, name) ||
    variables.length === 0 ||
    [...variables, `${baseUrl}_KEY`].some((variable) => environment[variable]);
  const needsAddress = name === "openai-compatible" && !environment[baseUrl];
  return {
    name,
    description,
    needs: [
      ...(isSet ? [] : [`set ${variables.join(" or ")}`]),
      ...(needsAddress ? [`set ${baseUrl}`] : []),
      ...(wanted === undefined || isInstalled(wanted) ? [] : [`npm install ${wanted}`]),
    ],
    attachments,
    serverTools: Object.keys(serverTools),
  };
}

function isInstalled(wanted: string): boolean {
  try {
    import.meta.resolve(wanted.slice(0, wanted.lastIndexOf("@")));
    return true;
  } catch {
    return false;
  }
}

function toCells({ name, needs, description, attachments, serverTools }: DescribedProvider): readonly string[] {
  const abilities = [
    ...(attachments && attachments.length > 0 ? [attachments.join(", ")] : []),
    ...(serverTools.length > 0 ? [serverTools.join(", ")] : []),
  ];
  return [name, needs.length === 0 ? "ready" : needs.join("; "), [description, ...abilities].join("; ")];
}

function toModelCells({ id, price, contextWindow }: ListedModel): readonly string[] {
  const dollars = price ? `$${toDollars(price.input)} / $${toDollars(price.output)}` : "no price";
  return [id, dollars, contextWindow === undefined ? "" : `${formatCount(contextWindow)} tokens`];
}

function toDollars(amount: number): string {
  return String(Number(amount.toPrecision(6)));
}

async function suggest(pattern: string): Promise<string> {
  const known = (await listModels("*", builtInProviders)).map(({ id }) => id);
  const named = nearestNames(
    pattern,
    builtInProviders.map(({ name }) => name),
  );
  const near = nearestNames(pattern, pattern.includes(":") ? known : known.map((id) => id.slice(id.indexOf(":") + 1)));
  const meant = named.length > 0 ? named : near;
  return meant.length > 0 ? `did you mean ${meant.join(" or ")}?` : "llm-do models lists the providers";
}
