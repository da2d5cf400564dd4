import type { ApprovalRequest } from "../protocol/approval.ts";
import { renderRequest } from "../ui/render-request.ts";

/** Columns of a question: a client wraps its lines itself. */
const columns = 100;
/** Characters of a question that a client may be asked to show. */
const longestQuestion = 100_000;

/** Renders all that a person would see of a question at a terminal. Undefined where it is too much for a client to show. */
export function renderQuestion(request: ApprovalRequest): string | undefined {
  const { text, isWhole } = renderRequest(request, { columns, style: (_, plain) => plain, whole: true });
  return isWhole && text.length <= longestQuestion ? text : undefined;
}
