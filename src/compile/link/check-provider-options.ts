import type { Spanned } from "../../diagnostics/source.ts";
import { spanAt } from "../../language/shapes/json-shape.ts";
import type { ProviderSyntax } from "../../language/shapes/server-shapes.ts";
import type { ProviderOptionsSyntax } from "../../language/worker-file.ts";
import type { OptionRules } from "../../models/options/option-rules.ts";
import { loadOptionRules } from "../../models/providers/create-packaged-provider.ts";
import { findPackageFacts } from "../../models/providers/packaged-providers.ts";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import type { Compilation } from "../compilation.ts";
import type { KnownProvider } from "./link-providers.ts";

/** Reports options that no provider of the program takes. Those of providers that have no rules are passed on unchecked. */
export async function checkProviderOptions(
  { diagnostics, manifest }: Compilation,
  { value, span }: Spanned<ProviderOptionsSyntax>,
  known: readonly KnownProvider[],
): Promise<void> {
  const declared = new Map((manifest?.providers?.value ?? []).map(({ name, value }) => [name.value, value.value]));
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
    const own = declared.get(name);
    if (!provider && !own) {
      const names = [...known.map((one) => one.name), ...declared.keys()];
      report([name], "is no known provider", didYouMean(name, names) ?? `there are ${names.join(", ")}`);
      continue;
    }
    const loadRules = provider || !own ? provider?.loadOptionRules : () => loadRulesOf(own);
    if (!loadRules || !isRecord(options)) continue;
    const { checkOptions } = await import("../../models/options/option-rules.ts");
    for (const { path, message, hint } of await checkOptions(options as JsonObject, await loadRules())) {
      report([name, ...path], message, hint);
    }
  }
}

/** Servers of a manifest speak OpenAI's chat completions. A package that llm-do does not know takes no options. */
async function loadRulesOf(provider: ProviderSyntax): Promise<OptionRules> {
  if (!("package" in provider)) return (await import("../../models/options/provider-options.ts")).chatOptions;
  const facts = findPackageFacts(provider.package.value);
  return facts ? loadOptionRules(facts) : {};
}
