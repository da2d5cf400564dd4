import type { Span } from "../../diagnostics/source.ts";
import { isRecord } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { ProviderOptionsSyntax } from "../worker-file.ts";
import { record } from "./collection-shapes.ts";
import { readJsonEntries } from "./json-shape.ts";
import { refuseValue } from "./node-problems.ts";
import { integer, number, oneOf } from "./scalar-shapes.ts";
import type { Shape } from "./shape.ts";

const providerNote = "write `{ anthropic: { … } }`: a map from a provider to its own options";

const providerOptions: Shape<ProviderOptionsSyntax> = {
  jsonSchema: { type: "object", additionalProperties: { type: "object" } },
  read(node, context) {
    if (node.kind !== "map") return refuseValue(node, context, { wanted: "a map", note: providerNote });
    const spans = new Map<string, Span>();
    const options = readJsonEntries(node.entries, { context, spans });
    const [wrong] = Object.entries(options).find(([, value]) => !isRecord(value)) ?? [];
    if (wrong === undefined) return { options, optionSpans: spans };
    const span = node.entries.find((entry) => entry.key.value === wrong)?.value.span ?? node.span;
    const message = `\`${context.path}.${clipText(wrong, 40)}\` has to be a map of options`;
    return context.report("wrong-type", { message, span, note: providerNote });
  },
};

const seconds = number({ min: 0, exclusive: true });

/** How patient requests are, whatever they ask for. */
const waiting = {
  max_retries: {
    shape: integer({ min: 0 }),
    description: "How often a request that failed in a way that may pass is made again. Default 4.",
  },
  max_retry_wait: {
    shape: number({ min: 0 }),
    description: "The longest wait that a provider may ask for before the next attempt, in seconds. Default 120.",
  },
  connect_timeout: { shape: seconds, description: "How long connecting to the provider may take, in seconds. Default 10." },
  first_byte_timeout: {
    shape: seconds,
    description: "How long an answer may take to begin, in seconds. Default `timeout`, or 1800.",
  },
  idle_timeout: {
    shape: seconds,
    description: "How long an answer may stop before it goes on, in seconds. Default `timeout`, or 1800.",
  },
  timeout: {
    shape: seconds,
    description: "`first_byte_timeout` and `idle_timeout` where they are not set, in seconds. Default 1800.",
  },
};

/** `model_settings` of a manifest: for workers that do not say. */
export const waitingShape = record(waiting, { note: "other settings are those of a worker, or of a profile" });

/** `model_settings`: what is asked of the model, whichever it is. */
export const modelSettingsShape = record({
  temperature: { shape: number({ min: 0 }), description: "How freely the model chooses its words." },
  max_output_tokens: { shape: integer({ min: 1 }), description: "How long one response may be." },
  top_p: { shape: number({ min: 0, max: 1 }), description: "Share of the likeliest words that the model chooses among." },
  seed: { shape: integer({ min: 0 }), description: "For the same response to the same request, where the provider can." },
  reasoning: {
    shape: oneOf(["none", "minimal", "low", "medium", "high"]),
    description: "How much the model thinks before it answers.",
  },
  provider_options: { shape: providerOptions, description: "A map from a provider to options that only it has." },
  ...waiting,
});
