import type { PatientInit } from "../host/patience.ts";
import { isRecord, recordsIn } from "../protocol/json.ts";
import { parseJson } from "../util/json/parse-json.ts";
import { errorMessage } from "../util/text/error-message.ts";
import { ModelError } from "./model.ts";
import type { ProviderEnvironment } from "./provider.ts";
import { type EndpointFacts, resolveEndpoint } from "./provider-endpoint.ts";

interface ServerFacts extends EndpointFacts {
  readonly name: string;
  readonly whenUnreachable?: string;
}

/** Milliseconds: somebody waits for the list. */
const patience = { connect: 3000, firstByte: 10_000, idle: 10_000 };

/** Asks a server of chat completions for the names of its models, in its order. Rejects with a `ModelError` if it does not say. */
export async function listServedModels(facts: ServerFacts, environment: ProviderEnvironment): Promise<readonly string[]> {
  const model = `${facts.name}:*`;
  const { baseUrl, key } = resolveEndpoint(facts, model, environment);
  const url = `${baseUrl.replace(/\/+$/, "")}/models`;
  const headers: Record<string, string> = key ? { authorization: `Bearer ${key.value}` } : {};
  const request: PatientInit = { headers, redirect: "manual", patience };
  const hint = facts.whenUnreachable ? `; ${facts.whenUnreachable}` : "";
  const fail = (message: string, cause?: unknown) => new ModelError({ code: "network", model, message, cause });
  const response = await environment.fetch(url, request).catch((cause: unknown) => {
    throw fail(`${facts.name} could not be asked for its models at ${url}: ${errorMessage(cause)}${hint}`, cause);
  });
  const { readWhole } = await import("./wire/create-wire-fetch.ts");
  const body = parseJson(new TextDecoder().decode(await readWhole(response)));
  const names = recordsIn(isRecord(body) ? body["data"] : undefined).flatMap(({ id }) => (typeof id === "string" ? id : []));
  if (response.ok && (names.length > 0 || (isRecord(body) && Array.isArray(body["data"])))) return names;
  throw fail(`${facts.name} does not list its models at ${url} (HTTP ${response.status})`);
}
