import type { ShellRule } from "../../src/toolsets/shell/config.ts";

/** Rules that allow without a question, one for each pattern. */
export function allow(patterns: string): readonly ShellRule[] {
  return patterns
    .split(",")
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== "")
    .map((pattern) => ({ pattern, approval_required: false }));
}
