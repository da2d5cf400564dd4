import type { CatalogueEntry } from "../catalogue-entry.ts";

/** Diagnostics of code that answers before a prompt. */
export const boundaryCodes = {
  "code-not-function": {
    severity: "error",
    title: "No function that can answer",
    explanation:
      '`code` names a function that answers the calls of a worker before its prompt: `tools.ts:NAME`, where `tools.ts` exports `NAME`. It takes the input and a runtime, and gives the output, or `unsure("why")`.',
  },
  "check-unused": {
    severity: "warning",
    withoutEffect: true,
    title: "A check that compares nothing",
    explanation:
      "`check` has the prompt of a worker answer a share of what its code answered, and compares the two. Without `code`, or without instructions, there is nothing to compare.",
  },
} as const satisfies Record<string, CatalogueEntry>;
