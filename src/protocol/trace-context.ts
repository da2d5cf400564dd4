import type { CallPath } from "./call.ts";

/** The W3C trace context of a span, for requests to other processes. */
export interface TraceContext {
  readonly traceparent: string;
  readonly tracestate?: string;
}

/** Returns the context of the span of a call; undefined for a call that has none. */
export type TraceLookup = (call: { readonly runId: string; readonly callPath: CallPath }) => TraceContext | undefined;
