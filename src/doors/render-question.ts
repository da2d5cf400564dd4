import type { ApprovalRequest } from "../protocol/approval.ts";
import { renderRequest } from "../ui/render-request.ts";

/** Columns of a question: a client wraps its lines itself. */
const columns = 100;
/** Characters of a question that a client may be asked to show. */
const longestQuestion = 100_000;

/**
 * Renders all that a person would see of a question at a terminal, as a block of code: clients render Markdown. Undefined if it is too
 * much for a client to show.
 */
export function renderQuestion(request: ApprovalRequest): string | undefined {
  const { text, isWhole } = renderRequest(request, { columns, style: (_, plain) => plain, whole: true });
  if (!isWhole || text.length > longestQuestion) return undefined;
  const [longest = ""] = (text.match(/`+/g) ?? []).sort((a, b) => b.length - a.length);
  const fence = "`".repeat(Math.max(3, longest.length + 1));
  return `${fence}\n${text.trimEnd()}\n${fence}\n`;
}
