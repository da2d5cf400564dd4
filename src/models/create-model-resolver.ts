import { type Model, ModelError } from "./model.ts";
import { parseModelId } from "./model-id.ts";
import type { Provider, ProviderEnvironment } from "./provider.ts";
import { builtInProviders } from "./providers.ts";

/** Gives the model of an id, the same object each time. Rejects with a `ModelError`. */
export type ModelResolver = (id: string) => Promise<Model>;

/**
 * A resolver over some providers, one per run. A provider's library is loaded when the first of its models is asked for.
 * Of two providers with one name, the later one is used: own providers go after the built-in ones.
 */
export function createModelResolver(
  environment: ProviderEnvironment,
  providers: readonly Provider[] = builtInProviders,
): ModelResolver {
  const byName = new Map(providers.map((provider) => [provider.name.toLowerCase(), provider]));
  const models = new Map<string, Promise<Model>>();
  return async (id) => {
    const parsed = parseModelId(id, [...byName.keys()]);
    if (!parsed.ok) throw new ModelError({ code: "not_found", model: id, message: parsed.error.message });
    const known = models.get(parsed.value.id);
    if (known) return known;
    const model = createModel(byName.get(parsed.value.provider), parsed.value.name, environment);
    models.set(parsed.value.id, model);
    model.catch(() => models.delete(parsed.value.id));
    return model;
  };
}

async function createModel(provider: Provider | undefined, name: string, environment: ProviderEnvironment): Promise<Model> {
  if (!provider) throw new Error("A parsed model id names a known provider");
  return provider.create(name, environment);
}
