import type { Patience } from "../../host/patience.ts";
import { isRecord, recordsIn } from "../../protocol/json.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { Redactor } from "../../util/secrets/redactor.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { ModelError, type ModelErrorCode, retryableByCode } from "../model.ts";
import { describeSilence } from "../patience.ts";
import type { ProviderKey } from "../provider-endpoint.ts";
import { readRetryAfter } from "../retry.ts";
import { AnswerRefusal } from "../wire/bounds.ts";
import { describeErrorBody, describeReported } from "../wire/error-words.ts";
import type { LanguageModelAdapterFacts } from "./language-model-adapter.ts";
import { BrokenStream, StreamFailure } from "./read-stream.ts";

/** Facts about a failure, from which the message is made. */
interface Failure extends Omit<ConstructorParameters<typeof ModelError>[0], "model"> {
  /** Default: that of the code. */
  readonly label?: string;
}

interface ErrorFacts extends Pick<LanguageModelAdapterFacts, "id" | "key" | "whenUnreachable"> {
  readonly patience: Patience;
}

/** Whatever a provider library threw, as a `ModelError` with a short message and no key in it. */
export function toModelError(thrown: unknown, facts: ErrorFacts): ModelError {
  if (thrown instanceof ModelError) return thrown;
  const failure = classify(thrown, facts.patience);
  const status = failure.status === undefined ? "" : ` (HTTP ${failure.status})`;
  const said = redact(failure.message, facts.key);
  const leaks = facts.key !== undefined && errorMessage(failure.cause).includes(facts.key.value);
  const refused = failure.code === "auth" && facts.key ? ` the key in ${facts.key.variable}` : "";
  const hint = failure.code === "network" && facts.whenUnreachable ? `; ${facts.whenUnreachable}` : "";
  // Nothing listens: a server of this machine does not start because requests are repeated.
  const isDown = hint !== "" && failure.message.includes("ECONNREFUSED");
  return new ModelError({
    ...failure,
    model: facts.id,
    message: `${facts.id} ${failure.label ?? labels[failure.code]}${refused}${status}${said ? `: ${said}` : ""}${hint}`,
    retryable: isDown ? false : (failure.retryable ?? retryableByCode[failure.code]),
    cause: leaks ? undefined : failure.cause,
  });
}

const labels: Readonly<Record<ModelErrorCode, string>> = {
  auth: "refused",
  rate_limit: "limits the rate of requests",
  overloaded: "is overloaded or failing",
  timeout: "took too long",
  network: "could not be reached",
  broken_stream: "broke off its answer",
  bad_request: "does not take this request",
  context_window: "does not take a request of this length",
  not_found: "was not found",
  bad_response: "answered with something unreadable",
  too_large: "answered with more than is taken",
  unexpected_request: "did not expect this request",
  configuration: "is not configured",
};

/** The words in which providers refuse a request that is longer than the model's window. */
const tooLong =
  /(?:prompt|input|request|conversation) is too long|context[ _](?:length|window)|maximum (?:context|prompt|input)|(?:input|prompt|token)\w* (?:token )?(?:count|length|limit)?\s*(?:of \d+ )?exceed/i;

/** Providers have no code for it in common: a refused request says it in words. */
function classify(thrown: unknown, patience: Patience): Failure {
  const cause = thrown instanceof StreamFailure ? thrown.failure : thrown;
  const silence = describeSilence(networkCode(cause), patience);
  if (silence !== undefined) return { code: "timeout", message: silence, cause };
  const failure = classifyKind(thrown);
  return failure.code === "bad_request" && tooLong.test(failure.message) ? { ...failure, code: "context_window" } : failure;
}

function classifyKind(thrown: unknown): Failure {
  const refusal = causesOf(thrown instanceof StreamFailure ? thrown.failure : thrown).find((one) => one instanceof AnswerRefusal);
  if (refusal) return { code: refusal.code, message: refusal.message };
  if (thrown instanceof BrokenStream) return { code: "broken_stream", message: thrown.message };
  if (thrown instanceof StreamFailure) return classifyInStream(thrown.failure);
  if (thrown instanceof Error) return classifyError(thrown as LibraryError);
  return { code: "bad_response", message: errorMessage(thrown), cause: thrown };
}

/** Members of the library's errors. Errors are recognised by name, because several copies of the library can be installed. */
interface LibraryError extends Error {
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: unknown;
  readonly isRetryable?: boolean;
  readonly code?: unknown;
}

function classifyError(error: LibraryError): Failure {
  if (error.name === "AI_APICallError") return classifyCall(error);
  if (error.name === "AI_LoadAPIKeyError") return { code: "auth", label: "needs a key", message: error.message };
  if (error.name === "AI_UnsupportedFunctionalityError") return { code: "bad_request", message: describeUnsupported(error) };
  if (error.name === "AI_JSONParseError") return { code: "broken_stream", message: "a piece of it is no valid JSON" };
  if (error.name === "AI_TypeValidationError") return { code: "bad_response", message: describeMismatch(error), cause: error };
  if (networkCode(error) || /^(fetch failed|terminated)$/.test(error.message)) return classifyConnection(error);
  return { code: "bad_response", message: error.message, cause: error };
}

function describeUnsupported(error: LibraryError): string {
  const type = /media type:? ([\w.+/-]+)/.exec(error.message)?.[1];
  return type ? `it takes no files of type ${type}` : error.message;
}

function classifyCall(error: LibraryError): Failure {
  const status = error.statusCode;
  if (status === undefined) return classifyConnection(error);
  if (status < 300) return classifyUnreadable(error);
  if (status < 400) return { code: "bad_request", status, message: "it redirects to another address, which is not followed" };
  const reported = readBody(error.responseBody);
  const said = `${describeKind(reported)} ${detailOf(reported, "reason") ?? ""}`;
  // A failed answer of the Responses API is thrown as a 400 by its library, whatever was the matter.
  const kind = status === 400 ? byKind(said) : undefined;
  const asked = error.responseHeaders?.["x-should-retry"];
  const retryable = kind ? undefined : error.isRetryable;
  return {
    code: kind ?? byStatus(status),
    status,
    message: describeErrorBody(error.responseBody) ?? error.message,
    retryable: said.includes("insufficient_quota") ? false : asked ? asked === "true" : retryable,
    retryAfterMilliseconds: readRetryAfter(error.responseHeaders ?? {}) ?? readRetryDelay(reported),
  };
}

/** Google's errors say in a list of details what others say in headers and codes. */
function detailOf(reported: Record<string, unknown> | undefined, name: string): unknown {
  return recordsIn(reported?.["details"]).find((detail) => detail[name] !== undefined)?.[name];
}

/** Reads a duration of Google's, such as `34.07s`. */
function readRetryDelay(reported: Record<string, unknown> | undefined): number | undefined {
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(String(detailOf(reported, "retryDelay")))?.[1];
  return seconds === undefined ? undefined : Math.round(Number(seconds) * 1000);
}

/** A good status, but no good body: an error in it, cut off, or not what was asked for. */
function classifyUnreadable(error: LibraryError): Failure {
  const reported = readBody(error.responseBody);
  if (reported) return classifyInStream(reported);
  const body = typeof error.responseBody === "string" ? error.responseBody.trimStart() : undefined;
  if (error.cause instanceof Error && error.cause.name === "AI_TypeValidationError") {
    return { code: "bad_response", message: describeMismatch(error.cause) };
  }
  if (body === undefined) return { code: "broken_stream", message: errorMessage(error.cause ?? error) };
  if (body === "") return { code: "broken_stream", message: "the answer is empty" };
  if (body.startsWith("{")) return { code: "broken_stream", message: "the answer is cut off" };
  return { code: "bad_response", message: `no JSON came: ${clipText(body, 80)}` };
}

/** The library's own text holds the whole answer and all of its expectations: the first place says enough. */
function describeMismatch(error: Error): string {
  const mismatch = error.cause as { readonly issues?: readonly { readonly path?: readonly unknown[] }[] } | undefined;
  const place = mismatch?.issues?.[0]?.path?.join(".");
  return `the answer lacks what it should hold${place ? ` (${clipText(place, 80)})` : ""}`;
}

function byStatus(status: number): ModelErrorCode {
  if (status === 401 || status === 403) return "auth";
  if (status === 404) return "not_found";
  if (status === 408) return "timeout";
  if (status === 409 || status === 429) return "rate_limit";
  return status >= 500 ? "overloaded" : "bad_request";
}

/** In a stream the status was good already: the kind of error is in the provider's own words. */
function classifyInStream(failure: unknown): Failure {
  if (failure instanceof Error) {
    const classified = classifyError(failure);
    const isMismatch = failure.name === "AI_TypeValidationError";
    return classified.code === "bad_response" && !isMismatch ? { ...classified, code: "broken_stream" } : classified;
  }
  if (!isRecord(failure)) return { code: "broken_stream", message: errorMessage(failure) };
  const message = describeReported(failure) ?? "the provider reported an error";
  const status = [failure["statusCode"], failure["code"]].find((value) => typeof value === "number" && value >= 400);
  const code = typeof status === "number" ? byStatus(status) : byKind(describeKind(failure));
  const retryable = typeof failure["isRetryable"] === "boolean" ? failure["isRetryable"] : undefined;
  return { code: code ?? "broken_stream", message, retryable };
}

const kinds: readonly (readonly [RegExp, ModelErrorCode])[] = [
  [/rate_limit/, "rate_limit"],
  [/overloaded|server_error|api_error|internal/, "overloaded"],
  [/authentication|permission|invalid_api_key|API_KEY_INVALID/, "auth"],
  [/not_found/, "not_found"],
  [/invalid_request|context_length|billing/, "bad_request"],
];

function byKind(kind: string): ModelErrorCode | undefined {
  return kinds.find(([pattern]) => pattern.test(kind))?.[1];
}

function describeKind(error: Record<string, unknown> | undefined): string {
  return error ? `${error["type"] ?? ""} ${error["code"] ?? ""}` : "";
}

/** The error that a body reports. */
function readBody(body: unknown): Record<string, unknown> | undefined {
  const parsed = typeof body === "string" ? parseJson(body) : body;
  const [first] = Array.isArray(parsed) ? parsed : [parsed];
  if (!isRecord(first)) return undefined;
  const { error } = first;
  return typeof error === "string" ? { message: error } : isRecord(error) ? error : undefined;
}

function classifyConnection(error: LibraryError): Failure {
  const code = networkCode(error);
  if (code === "UND_ERR_HEADERS_OVERFLOW") return { code: "bad_response", message: "its headers are too long", cause: error };
  const refusal = proxyStatus(error);
  if (refusal !== undefined) return { code: "network", retryable: refusal >= 500, message: describeProxyRefusal(refusal) };
  const certificate = certificateProblem(error);
  if (certificate !== undefined) return { code: "network", retryable: false, message: certificate, cause: error.cause };
  const timedOut = code !== undefined && /TIMEOUT|TIMEDOUT/.test(code);
  const message = error.message.replace(/^Cannot connect to API: /, "");
  return { code: timedOut ? "timeout" : "network", message: message || code || "", cause: error.cause };
}

/** Returns what is wrong with the certificate of a server. No attempt fares better. */
function certificateProblem(error: unknown): string | undefined {
  const causes = causesOf(error).map((cause): LibraryError => cause);
  const found = causes.find(
    ({ code }) => typeof code === "string" && /^(ERR_TLS_CERT|CERT_|UNABLE_TO_|\w*SELF_SIGNED)/.test(code),
  );
  if (!found) return undefined;
  const isUnknown = /SELF_SIGNED|UNABLE_TO/.test(String(found.code));
  const hint = isUnknown ? "; if its authority is your own, name the file of its certificate in NODE_EXTRA_CA_CERTS" : "";
  return `its certificate is not trusted: ${found.message}${hint}`;
}

/** Returns the status that a proxy answered in place of opening a connection. Node reports it in words alone. */
function proxyStatus(error: unknown): number | undefined {
  const status = causesOf(error).flatMap(({ message }) => /^Proxy response \((\d+)\)/.exec(message)?.[1] ?? [])[0];
  return status === undefined ? undefined : Number(status);
}

function describeProxyRefusal(status: number): string {
  if (status !== 407) return `the proxy refuses to open the connection (HTTP ${status})`;
  return "the proxy wants a user and a password (HTTP 407): write http://USER:PASSWORD@HOST:PORT into its variable, HTTPS_PROXY or HTTP_PROXY";
}

/** Returns the code of the operating system, at any depth of the chain of causes. */
function networkCode(error: unknown): string | undefined {
  const codes = causesOf(error).map(({ code }: LibraryError) => code);
  return codes.find((code): code is string => typeof code === "string" && /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(code));
}

/** Returns an error and its causes, outermost first, at most eight. */
function causesOf(thrown: unknown): Error[] {
  const found: Error[] = [];
  for (let current = thrown; current instanceof Error && found.length < 8; current = current.cause) found.push(current);
  return found;
}

const keyLike = /\b(?:sk|pk|rk|gsk|xai|key)[-_][\w*-]{6,}|\bAIza[\w-]{10,}|\bBearer\s+[\w.~+/*=-]{8,}/g;

function redact(message: string, key: ProviderKey | undefined): string {
  const known = new Redactor(key ? [{ name: key.variable, value: key.value }] : []);
  return clipText(known.text(message).replace(keyLike, "⟦secret⟧").replace(/\s+/g, " ").trim(), 400);
}
