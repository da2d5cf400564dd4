/** The public names of `llm-do/otel`: the events of runs as spans of OpenTelemetry. */
export { createTelemetry, type Telemetry, type TelemetryOptions } from "./telemetry.ts";
