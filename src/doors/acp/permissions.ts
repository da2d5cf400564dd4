import { join } from "node:path";
import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from "@agentclientprotocol/sdk";
import type { Program } from "../../front/llm-do.ts";
import type { ApprovalDecision, ApprovalRequest } from "../../protocol/approval.ts";
import { callLabel } from "../../ui/text/call-label.ts";
import { showText } from "../../ui/text/show-text.ts";
import { callIdOf, diffOf, kindOf, textContent } from "./updates.ts";

/** The decision that each option of a question stands for. */
const decisions: Readonly<Record<string, ApprovalDecision>> = {
  approve: { type: "approve" },
  repeat: { type: "approve", remember: "run" },
  deny: { type: "deny" },
  stop: { type: "stop" },
};

/**
 * Creates the question of a gate as a client shows it. `text` is all that a person would see of it at a terminal. Clients render texts as
 * Markdown, in which a model's words could hide others: the title has none of them, and the text is a block of code.
 */
export function toPermission(
  { id: sessionId, program }: { readonly id: string; readonly program: Program },
  request: ApprovalRequest,
  text: string,
): RequestPermissionRequest {
  const { callPath, tool, preview, canRemember, rules = [] } = request;
  const options: PermissionOption[] = [
    { optionId: "approve", kind: "allow_once", name: "Approve" },
    ...(canRemember ? [{ optionId: "repeat", kind: "allow_always" as const, name: "Approve, and the same call again" }] : []),
    ...rules.map(({ rule }, index) => ({
      optionId: `rule-${index}`,
      kind: "allow_always" as const,
      name: `Approve, and allow ${showText(rule)}`,
    })),
    { optionId: "deny", kind: "reject_once", name: "Deny" },
    { optionId: "stop", kind: "reject_always", name: "Stop the run" },
  ];
  const content = [textContent(text), ...diffOf(preview, (path) => toHostPath(program, request.worker, path))];
  return {
    sessionId,
    options,
    toolCall: { toolCallId: callIdOf(request), title: callLabel(callPath), kind: kindOf(tool), status: "pending", content },
  };
}

/** Editors open absolute paths. That of a worker which the run created is not known, and stays as it is. */
function toHostPath(program: Program, name: string, path: string): string {
  const workers = [...program.workers.values()].filter((worker) => worker.name === name);
  const scopes = workers.length === 1 ? (workers[0]?.scopes ?? []) : [];
  const scope = scopes.find((one) => path.startsWith(`${one.name}/`));
  return scope ? join(scope.root, path.slice(scope.name.length + 1)) : path;
}

/** Reads a client's answer. What is not one of the options that were offered denies. */
export function readPermission(
  { outcome }: RequestPermissionResponse,
  { canRemember, rules = [] }: ApprovalRequest,
): ApprovalDecision {
  if (outcome.outcome !== "selected") return { type: "deny", note: "the question was closed without an answer" };
  // What a client sends need not be a text.
  const optionId: unknown = outcome.optionId;
  if (typeof optionId !== "string" || (optionId === "repeat" && !canRemember)) return { type: "deny" };
  const rule = rules.find((_, index) => optionId === `rule-${index}`)?.rule;
  if (rule !== undefined) return { type: "approve", rule };
  return (Object.hasOwn(decisions, optionId) ? decisions[optionId] : undefined) ?? { type: "deny" };
}
