import type { QuestionPosition } from "../../protocol/approval.ts";

/** Renders the position of a question: `1 of 3, and 4 calls wait behind these`. */
export function questionPosition({ n, m, waiting = 0 }: QuestionPosition): string {
  const calls = waiting === 1 ? "1 call waits" : `${waiting} calls wait`;
  return `${n} of ${m}${waiting > 0 ? `, and ${calls} behind ${m === 1 ? "this one" : "these"}` : ""}`;
}
