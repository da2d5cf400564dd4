import type { RunRequest } from "../../front/llm-do.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { UsageError } from "../exit-codes.ts";
import { writeStderr } from "../output.ts";

export type Tracing = Pick<RunRequest, "onEvent" | "traceOf">;

export interface OpenTelemetry extends AsyncDisposable {
  /** Returns the parts of a request that make its run a trace. `caller`: the W3C trace context of who asked for it. */
  begin(caller?: Readonly<Record<string, unknown>>): Tracing;
}

const noTelemetry: OpenTelemetry = { begin: () => ({}), [Symbol.asyncDispose]: async () => undefined };

/** Milliseconds that the last spans have to reach an exporter. */
const patience = 5000;

/**
 * Opens what `--otel` asks for: spans to the OTLP endpoint of the usual variables, through the user's own `@opentelemetry/sdk-node`. An
 * exporter that fails is told once. Rejects with a `UsageError` if there is no endpoint or no package.
 */
export async function openTelemetry({ otel = false }: { readonly otel?: boolean }): Promise<OpenTelemetry> {
  if (!otel) return noTelemetry;
  const { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT } = process.env;
  if (!(OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || OTEL_EXPORTER_OTLP_ENDPOINT))
    throw new UsageError("--otel sends spans to the address in OTEL_EXPORTER_OTLP_ENDPOINT, and that is not set");
  const [{ NodeSDK }, { context, diag, DiagLogLevel, propagation }, { createTelemetry }] = await loadPackages();
  process.env["OTEL_SERVICE_NAME"] ??= "llm-do";
  process.env["OTEL_METRICS_EXPORTER"] ??= "none";
  process.env["OTEL_LOGS_EXPORTER"] ??= "none";
  const sdk = new NodeSDK();
  sdk.start();
  let isTold = false;
  const tell = (message: string) => {
    if (!isTold) writeStderr(`llm-do: --otel: ${message}\n`);
    isTold = true;
  };
  const silent = () => undefined;
  diag.setLogger(
    { error: tell, warn: silent, info: silent, debug: silent, verbose: silent },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  // The span of the process that started this one, as W3C's trace context for processes has it.
  const outer = { traceparent: process.env["TRACEPARENT"], tracestate: process.env["TRACESTATE"] };
  const begin = ({ traceparent, tracestate }: Readonly<Record<string, unknown>> = outer) => {
    const carrier = traceparent === undefined ? outer : { traceparent, tracestate };
    return context.with(propagation.extract(context.active(), carrier), () => createTelemetry());
  };
  const close = async () => {
    const late = `the last spans did not reach the endpoint in ${patience / 1000} seconds`;
    const timeout = new Promise<void>((resolve) => setTimeout(() => resolve(tell(late)), patience).unref());
    await Promise.race([sdk.shutdown(), timeout]).catch((thrown: unknown) => tell(errorMessage(thrown)));
    isTold = true;
  };
  return { begin, [Symbol.asyncDispose]: close };
}

async function loadPackages() {
  try {
    return await Promise.all([
      import("@opentelemetry/sdk-node"),
      import("@opentelemetry/api"),
      import("../../otel/telemetry.ts"),
    ]);
  } catch (thrown) {
    throw new UsageError(
      `--otel needs two packages: npm install @opentelemetry/api @opentelemetry/sdk-node (${errorMessage(thrown).split("\n")[0]})`,
    );
  }
}
