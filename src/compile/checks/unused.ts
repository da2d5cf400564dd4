import type { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import type { Spanned } from "../../diagnostics/source.ts";
import type { Worker } from "../../program/program.ts";
import { attachmentField } from "../../toolsets/attachments.ts";
import { clipText } from "../../util/text/clip-text.ts";
import type { Compilation } from "../compilation.ts";
import { createFlagSource, wholeOf } from "../flag.ts";
import { providerOf } from "../link/link-providers.ts";
import type { ResolvedWorker } from "../resolve/resolve-workers.ts";

/*
 * Everything that is declared has to be used by something, or is reported: the author takes it for being in force. Rules have
 * their own check, since they are compared with calls.
 */

/** Reports `--model` where every worker has a model of its own. */
export function reportUnusedModel({ diagnostics }: Compilation, workers: Iterable<Worker>, model: string): void {
  const all = [...workers];
  if (all.some((worker) => worker.model?.source === "--model")) return;
  const span = wholeOf(createFlagSource("--model", model));
  const message = all.length === 0 ? "no worker is reached, so this model does nothing" : "every worker has a model of its own";
  const note = `write \`--model-for '${all[0]?.name ?? "*"}=${clipText(model, 60)}'\` to change it`;
  diagnostics.report("model-unused", { message, span, ...(all.length > 0 ? { note } : {}) });
}

/** Reports entries of the manifest that nothing the entry reaches uses. */
export function reportUnusedEntries({ manifest, used, diagnostics }: Compilation, workers: Iterable<Worker>): void {
  const all = [...workers];
  const models = new Set(all.flatMap(({ model }) => (model ? [providerOf(model.id)] : [])));
  const createsWorkers = all.some(({ toolsets }) => toolsets.some(({ toolset }) => toolset.name === "dynamic_workers"));
  const report = (unused: readonly Spanned<string>[], saying: (name: string) => string) => {
    for (const { value, span } of unused) {
      const message = `no worker that the entry reaches ${saying(`\`${clipText(value, 60)}\``)}`;
      diagnostics.report("manifest-entry-unused", { message, span });
    }
  };
  const { profiles, toolsets, mcp_servers: servers, providers } = manifest ?? {};
  const left = (names: readonly Spanned<string>[] = []) => names.filter((name) => !used.has(name));
  report(left(profiles?.value.map(({ name }) => name)), (name) => `names the profile ${name} under \`extends\``);
  report(left(toolsets?.value.map(({ reference }) => reference)), (name) => `names the toolset ${name} under \`toolsets\``);
  report(left(servers?.value.map(({ name }) => name)), (name) => `names the MCP server ${name} under \`mcp\``);
  const others = createsWorkers ? [] : left(providers?.value.map(({ name }) => name));
  report(
    others.filter(({ value }) => !models.has(value)),
    (name) => `has a model of the provider ${name}`,
  );
}

/** Reports fields that are named like attachments and are texts: no file can be passed in them. */
export function reportPlainAttachments(resolved: Iterable<ResolvedWorker>, diagnostics: DiagnosticList): void {
  for (const { file, generated } of resolved) {
    const input = file.input?.value;
    if (generated || input?.kind !== "data" || attachmentField(input.jsonSchema)) continue;
    for (const field of input.fields.filter(({ value }) => /^attachments?$/.test(value))) {
      const many = field.value.endsWith("s");
      const note = `write \`${many ? "attachments(array)" : "attachment"}: attachment\``;
      const message = `no file can be passed in \`${field.value}\`: it is not of the type \`attachment\``;
      diagnostics.report("attachment-type", { message, span: field.span, note });
    }
  }
}

/** Reports folders of a worker that has no tool to reach them. */
export function reportUnusedScopes(resolved: Iterable<ResolvedWorker>, diagnostics: DiagnosticList): void {
  for (const { name, file, generated, references } of resolved) {
    const [first] = file.sandbox?.value.paths?.value ?? [];
    // A server has the rights of its entry, and none of its worker's folders.
    const reaches = references.some(({ target }) => target.kind !== "toolset" || target.toolset.name !== "mcp");
    if (generated || !first || reaches || !file.sandbox) continue;
    const message = `no toolset of \`${name}\` uses its folders, so it cannot read or write in them`;
    const note = "write `toolsets: { filesystem: {} }` for tools that read and write files";
    diagnostics.report("scopes-unused", { message, span: first.name.span, note });
  }
}
