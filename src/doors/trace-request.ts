import type { RunRequest } from "../front/llm-do.ts";

/** Returns the parts of a request that make its run a trace. `caller`: a client's `_meta`, which can hold its W3C trace context. */
export type TraceRequest = (caller?: Readonly<Record<string, unknown>>) => Pick<RunRequest, "onEvent" | "traceOf">;
