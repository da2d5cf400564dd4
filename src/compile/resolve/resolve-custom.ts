import { relative } from "node:path";
import type { Span } from "../../diagnostics/source.ts";
import { spanAt } from "../../language/shapes/json-shape.ts";
import type { ApprovalSyntax, ToolsetSyntax } from "../../language/worker-file.ts";
import { isRecord } from "../../protocol/json.ts";
import { callersAmong, toolsetOfTools } from "../../toolsets/exported-toolset.ts";
import { isTool, type Tool } from "../../toolsets/toolset.ts";
import { didYouMean, quoteNames } from "../../util/text/did-you-mean.ts";
import type { Compilation } from "../compilation.ts";
import type { Home } from "../home.ts";
import type { ResolvedReference } from "./resolve-reference.ts";

/**
 * `custom: { name: { pre_approved: true } }`: tools that the program's code exports, chosen one by one, as one toolset. Undefined, with
 * diagnostics, if a name is none.
 */
export async function resolveCustom(
  compilation: Compilation,
  syntax: ToolsetSyntax,
  home: Home,
): Promise<ResolvedReference | undefined> {
  const { modules, diagnostics, host } = compilation;
  const [path] = await home.names.codeFiles();
  const { span } = syntax.reference;
  if (path === undefined) {
    const message = "`custom` chooses tools of `tools.ts`, and this program has none";
    return diagnostics.report("toolset-requirement", { message, span });
  }
  const { names, complete, failed } = await modules.exports(path, { home, from: span });
  const chosen = readChoices(compilation, syntax);
  if (failed || !chosen) return undefined;
  const file = relative(host.workingDirectory, path);
  const missing = chosen.filter(({ name }) => !names.has(name) && (complete || modules.trusted));
  for (const { name, span: from } of missing) {
    const note = didYouMean(name, names.keys()) ?? `its exports: ${quoteNames([...names.keys()]) || "none"}`;
    diagnostics.report("export-missing", { message: `\`${file}\` exports no \`${name}\``, span: from, note });
  }
  const values = await modules.values(path, { home, from: span });
  if (missing.length > 0) return undefined;
  if (!values) return modules.trusted ? undefined : { syntax, target: { kind: "unverified", name: "custom" } };
  const tools: Tool[] = [];
  for (const { name, span: from } of chosen) {
    const value = values.get(name);
    if (isTool(value)) tools.push({ ...value, name });
    else {
      const note = `write \`export const ${name} = tool({ input: …, run: … })\`, or name a toolset on its own: \`${name}: {}\``;
      diagnostics.report("toolset-not-one", { message: `the export \`${name}\` is no tool`, span: from, note });
    }
  }
  if (tools.length < chosen.length) return undefined;
  const toolset = toolsetOfTools("custom", tools);
  return {
    syntax: withApprovals(syntax, chosen),
    target: { kind: "toolset", toolset, code: { path, home }, callers: callersAmong(tools) },
  };
}

interface Choice {
  readonly name: string;
  readonly span: Span;
  readonly preApproved: boolean | undefined;
}

function readChoices(
  { diagnostics }: Compilation,
  { config, configSpans, reference }: ToolsetSyntax,
): readonly Choice[] | undefined {
  const wrong: string[] = [];
  const chosen = Object.entries(config.value).map(([name, value]): Choice => {
    const { pre_approved: preApproved, ...others } = isRecord(value) ? value : {};
    const isPlain = value === null || isRecord(value);
    const isApproval = preApproved === undefined || typeof preApproved === "boolean";
    if (!isPlain || !isApproval || Object.keys(others).length > 0) wrong.push(name);
    return {
      name,
      span: spanAt(configSpans, [name]) ?? reference.span,
      preApproved: preApproved === true ? true : preApproved === false ? false : undefined,
    };
  });
  for (const name of wrong) {
    const span = spanAt(configSpans, [name]) ?? reference.span;
    const note = `write \`${name}: {}\`, or \`${name}: { pre_approved: true }\``;
    diagnostics.report("toolset-config", { message: `\`custom.${name}\` takes \`pre_approved\` alone`, span, note });
  }
  return wrong.length > 0 ? undefined : chosen;
}

/** Reads what stands beside a tool as if it stood under `_approval_config`, which comes first. */
function withApprovals(syntax: ToolsetSyntax, chosen: readonly Choice[]): ToolsetSyntax {
  const own = syntax.approvals?.value ?? [];
  const beside = chosen.flatMap(({ name, span, preApproved }): ApprovalSyntax[] =>
    preApproved === undefined || own.some(({ tool }) => tool.value === name)
      ? []
      : [{ tool: { value: name, span }, preApproved: { value: preApproved, span } }],
  );
  const value = [...own, ...beside];
  const approvals = value.length > 0 ? { approvals: { value, span: syntax.config.span } } : {};
  return { ...syntax, ...approvals, config: { value: {}, span: syntax.config.span } };
}
