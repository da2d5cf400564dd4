import type { Spanned } from "../diagnostics/source.ts";
import { spanAt } from "../language/json-shape.ts";
import type { ProviderOptionsSyntax } from "../language/worker-file.ts";
import { isRecord, type JsonObject } from "../protocol/json.ts";
import { clipText } from "../util/clip-text.ts";
import { didYouMean } from "../util/did-you-mean.ts";
import type { Compilation } from "./compilation.ts";
import type { KnownProvider } from "./link-providers.ts";

/** Reports options that no provider of the program takes. Those of providers that have no rules are passed on unchecked. */
export async function checkProviderOptions(
  { diagnostics, manifest }: Compilation,
  { value, span }: Spanned<ProviderOptionsSyntax>,
  known: readonly KnownProvider[],
): Promise<void> {
  const servers = (manifest?.providers?.value ?? []).map(({ name }) => name.value);
  const report = (path: readonly (string | number)[], message: string, hint: string) => {
    const written = clipText(["provider_options", ...path].join("."), 80);
    const note = hint;
    diagnostics.report("provider-option", {
      message: `\`${written}\` ${message}`,
      span: spanAt(value.optionSpans, path) ?? span,
      note,
    });
  };
  for (const [name, options] of Object.entries(value.options)) {
    const provider = known.findLast((one) => one.name.toLowerCase() === name);
    if (!provider && !servers.includes(name)) {
      const names = [...known.map((one) => one.name), ...servers];
      report([name], "is no known provider", didYouMean(name, names) ?? `there are ${names.join(", ")}`);
      continue;
    }
    const loadRules = provider ? provider.loadOptionRules : loadServerRules;
    if (!loadRules || !isRecord(options)) continue;
    const { checkOptions } = await import("../models/options/option-rules.ts");
    for (const { path, message, hint } of await checkOptions(options as JsonObject, await loadRules())) {
      report([name, ...path], message, hint);
    }
  }
}

/** Servers of a manifest speak OpenAI's chat completions. */
async function loadServerRules() {
  return (await import("../models/options/provider-options.ts")).chatOptions;
}
