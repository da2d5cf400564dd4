import { valuesOf } from "../../language/shapes/values-of.ts";
import type { ServerToolSyntax, WorkerFile } from "../../language/worker-file.ts";
import { refuseServerTool } from "../../models/server-tools.ts";
import type { ModelChoice } from "../../program/program.ts";
import type { ServerTool } from "../../protocol/tool.ts";
import type { Compilation } from "../compilation.ts";
import { type KnownProvider, providerOf } from "./link-providers.ts";

interface Choice {
  readonly model: ModelChoice | undefined;
  readonly providers: readonly KnownProvider[];
}

/** The tools that the provider is to execute; each that the worker's model cannot have is reported where it is written. */
export function linkServerTools({ diagnostics }: Compilation, file: WorkerFile, choice: Choice): readonly ServerTool[] {
  const linked = new Map<string, ServerTool>();
  for (const syntax of file.server_side_tools?.value ?? []) {
    const tool = toServerTool(syntax);
    const { span } = syntax.tool_type;
    if (linked.has(tool.type)) {
      const note = "keep one entry for each tool";
      diagnostics.report("server-tool-twice", { message: `\`${tool.type}\` is enabled twice`, span, note });
      continue;
    }
    linked.set(tool.type, tool);
    reportRefusal(diagnostics, syntax, { ...choice, tool });
  }
  return [...linked.values()];
}

function toServerTool({ tool_type, ...bounds }: ServerToolSyntax): ServerTool {
  return { type: tool_type.value, ...valuesOf(bounds) };
}

function reportRefusal(
  { report }: Compilation["diagnostics"],
  syntax: ServerToolSyntax,
  { model, providers, tool }: Choice & { readonly tool: ServerTool },
): void {
  if (!model) return;
  const name = providerOf(model.id);
  // The later one of two providers with the same name is used; those of the manifest have no such tools.
  const provider = providers.findLast((one) => one.name.toLowerCase() === name) ?? { name };
  const refusal = refuseServerTool(tool, provider);
  if (!refusal) return;
  const { span } = (refusal.bound && syntax[refusal.bound]) ?? syntax.tool_type;
  const notes = [{ message: `the model is \`${model.id}\` (${model.source})` }, { message: refusal.hint }];
  report("server-tool-unsupported", { message: refusal.message, span, notes });
}
