import { matchesFlatGlob } from "../util/text/flat-glob.ts";
import { isTextType } from "./library/text-type.ts";
import type { Login } from "./login/login.ts";
import { type Model, ModelError, type ModelRequest } from "./model.ts";
import { type ModelId, parseModelId } from "./model-id.ts";
import type { Provider, ProviderEnvironment } from "./provider.ts";
import { builtInProviders, byName } from "./providers/providers.ts";

/** `auto`: by the user's login if there is one, else by key. */
export type AuthMode = "off" | "auto" | "required";

/** Returns the model of an id, the same object each time. `auth`: default `off`. Rejects with a `ModelError`. */
export type ModelResolver = (id: string, auth?: AuthMode) => Promise<Model>;

export interface ResolverEnvironment extends ProviderEnvironment {
  /** The user's login at a provider; undefined if there is none. Absent: there are no logins. */
  findLogin?(provider: string): Promise<Login | undefined>;
}

/**
 * A resolver over some providers, one per run. A provider's library is loaded when the first of its models is asked for.
 * The later one of two providers with one name is used: own providers go after the built-in ones.
 */
export function createModelResolver(
  environment: ResolverEnvironment,
  providers: readonly Provider[] = builtInProviders,
): ModelResolver {
  const known = byName(providers);
  const models = new Map<string, Promise<Model>>();
  const keyOf = (id: string, auth: AuthMode) => `${auth} ${id}`;
  return async (id, auth = "off") => {
    const asked = models.get(keyOf(id, auth));
    if (asked) return asked;
    const parsed = parseModelId(id, [...known.keys()]);
    if (!parsed.ok) throw new ModelError({ code: "not_found", model: id, message: parsed.error.message });
    const key = keyOf(parsed.value.id, auth);
    const made = models.get(key);
    if (made) return made;
    const model = createModel(known, parsed.value, { ...environment, auth });
    models.set(key, model);
    model.catch(() => models.delete(key));
    return model;
  };
}

async function createModel(
  known: ReadonlyMap<string, Provider>,
  { provider: providerName, name }: ModelId,
  { auth, findLogin, ...environment }: ResolverEnvironment & { readonly auth: AuthMode },
): Promise<Model> {
  const provider = known.get(providerName);
  if (!provider) throw new Error("A parsed model id names a known provider");
  const login = auth === "off" ? undefined : await findLogin?.(providerName);
  if (!login && auth === "required") throw missingLogin(`${providerName}:${name}`, providerName);
  const model = login
    ? await createWithLogin(provider, name, { ...environment, login })
    : await provider.create(name, environment);
  if (!provider.attachments) return model;
  return {
    id: model.id,
    async generate(request, options) {
      checkAttachments(request, { id: model.id, provider, all: [...known.values()] });
      return model.generate(request, options);
    },
  };
}

function missingLogin(model: string, provider: string): ModelError {
  const message = `${model} needs a login (\`auth: required\`): run \`llm-do oauth login ${provider}\``;
  return new ModelError({ code: "auth", model, message });
}

async function createWithLogin(provider: Provider, name: string, environment: ProviderEnvironment & { readonly login: Login }) {
  const { login, fetch } = environment;
  const { createLoginFetch } = await import("./login/login.ts");
  const model = await provider.create(name, { ...environment, fetch: createLoginFetch(fetch, login) });
  const generate: Model["generate"] = async (request, options) => {
    // Refreshed before the library is called, which would hide why it cannot be.
    await login.token();
    return model.generate(request, options);
  };
  return { ...model, generate };
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
