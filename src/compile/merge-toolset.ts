import type { Span, Spanned } from "../diagnostics/source.ts";
import type { ApprovalSyntax, ToolsetSyntax } from "../language/worker-file.ts";

/** A named configuration of the manifest with what a worker that names it says over it, key by key and tool by tool. */
export function mergeToolset(named: ToolsetSyntax, own: ToolsetSyntax): ToolsetSyntax {
  const keys = Object.keys(own.config.value);
  const isOwn = (path: string): boolean => keys.some((key) => path === key || path.startsWith(`${key}.`));
  const inherited = [...named.configSpans].filter(([path]) => !isOwn(path));
  const prefix = own.prefix ?? named.prefix;
  const approvals = mergeApprovals(named.approvals, own.approvals);
  return {
    reference: own.reference,
    config: { value: { ...named.config.value, ...own.config.value }, span: own.config.span },
    configSpans: new Map<string, Span>([...inherited, ...own.configSpans]),
    ...(approvals && { approvals }),
    ...(prefix && { prefix }),
    ...(own.use && { use: own.use }),
  };
}

function mergeApprovals(
  named: Spanned<readonly ApprovalSyntax[]> | undefined,
  own: Spanned<readonly ApprovalSyntax[]> | undefined,
): Spanned<readonly ApprovalSyntax[]> | undefined {
  if (!named || !own) return own ?? named;
  const tools = new Set(own.value.map(({ tool }) => tool.value));
  return { value: [...named.value.filter(({ tool }) => !tools.has(tool.value)), ...own.value], span: own.span };
}
