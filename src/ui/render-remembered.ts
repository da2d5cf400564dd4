import type { RememberedCall } from "../protocol/fact.ts";
import { clipText } from "../util/text/clip-text.ts";
import { show } from "./explain/phrases.ts";
import { wrapWords } from "./text/wrap-text.ts";

type Remembered = Pick<RememberedCall, "worker" | "tool" | "args">;

const longestArguments = 300;

/** Lists what was approved for a run, numbered from 1. */
export function renderRemembered(approvals: readonly (Remembered | { readonly rule: string })[], columns: number): string {
  if (approvals.length === 0) return "Nothing is approved for this run.";
  const lines = approvals.flatMap((approval, index) => {
    const text = `${index + 1}. ${"rule" in approval ? `rule ${show(approval.rule)}` : showCall(approval)}`;
    return wrapWords(text, columns - 6).map((line, row) => `  ${row === 0 ? "" : "   "}${line}`);
  });
  return ["Approved for this run:", ...lines].join("\n");
}

function showCall({ worker, tool, args }: Remembered): string {
  return `${show(worker)} > ${show(tool)} ${show(clipText(JSON.stringify(args), longestArguments, "..."))}`;
}
