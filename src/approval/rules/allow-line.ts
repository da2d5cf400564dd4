/** The line of a worker's file that would pre-approve the calls of a tool. `tool` is its name without a `_prefix`. */
export function allowLine(reference: string, tool: string): string {
  const key = /^[\w-]+$/.test(reference) ? reference : JSON.stringify(reference);
  return `toolsets: { ${key}: { _approval_config: { ${tool}: { pre_approved: true } } } }`;
}
