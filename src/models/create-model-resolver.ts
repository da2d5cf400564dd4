import { matchesFlatGlob } from "../util/flat-glob.ts";
import { type Model, ModelError, type ModelRequest } from "./model.ts";
import { type ModelId, parseModelId } from "./model-id.ts";
import type { Provider, ProviderEnvironment } from "./provider.ts";
import { builtInProviders } from "./providers.ts";
import { isTextType } from "./text-type.ts";

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
    const model = createModel(byName, parsed.value, environment);
    models.set(parsed.value.id, model);
    model.catch(() => models.delete(parsed.value.id));
    return model;
  };
}

async function createModel(
  byName: ReadonlyMap<string, Provider>,
  { provider: providerName, name }: ModelId,
  environment: ProviderEnvironment,
): Promise<Model> {
  const provider = byName.get(providerName);
  if (!provider) throw new Error("A parsed model id names a known provider");
  const model = await provider.create(name, environment);
  if (!provider.attachments) return model;
  return {
    id: model.id,
    async generate(request, options) {
      checkAttachments(request, { id: model.id, provider, all: [...byName.values()] });
      return model.generate(request, options);
    },
  };
}

interface Checked {
  readonly id: string;
  readonly provider: Provider;
  readonly all: readonly Provider[];
}

/** Throws a `ModelError` if the models of the provider do not take a file of the request. */
function checkAttachments({ messages }: ModelRequest, { id, provider, all }: Checked): void {
  const files = messages
    .flatMap((message) => (message.role === "user" ? message.parts : []))
    .filter((part) => part.type === "file");
  const refused = files.find(({ mediaType }) => !isTextType(mediaType) && !takes(provider, mediaType));
  if (!refused) return;
  const others = all.filter((one) => one.attachments && takes(one, refused.mediaType)).map((one) => `${one.name}:*`);
  const instead = others.length > 0 ? `; models that do: ${others.join(", ")}` : "";
  const message = `${id} does not take ${refused.mediaType} (${refused.name})${instead}`;
  throw new ModelError({ code: "bad_request", model: id, message });
}

function takes({ attachments = [] }: Provider, mediaType: string): boolean {
  return attachments.some((glob) => matchesFlatGlob(glob, mediaType));
}
