import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ContentBlock,
  type ElicitRequestFormParams,
  type Server,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import type { RunOutput } from "../../front/llm-do.ts";
import type { ApprovalDecision } from "../../protocol/approval.ts";
import type { EventSink } from "../../protocol/event.ts";
import { isRecord } from "../../protocol/json.ts";
import { RunError } from "../../runtime/run-error.ts";
import { toToolSchema } from "../../toolsets/attachments.ts";
import { textOrJson } from "../../ui/explain/phrases.ts";
import { renderEvent } from "../../ui/headless/render-event.ts";
import { renderWaiting } from "../../ui/records/render-waiting.ts";
import { getOwn } from "../../util/get-own.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import type { OfferedWorker } from "../offered-worker.ts";

export function toTool({ name, description, input, output }: OfferedWorker): Tool {
  const inputSchema = { ...toToolSchema(input), type: "object" } as Tool["inputSchema"];
  return { name, description, inputSchema, ...(output ? { outputSchema: output as Tool["outputSchema"] } : {}) };
}

/** The result of a run. `files` are links to the files that came of it, and its pictures. */
export function toResult(worker: OfferedWorker, run: RunOutput, files: readonly ContentBlock[]): CallToolResult {
  const { output, stopReason, reason = "" } = run;
  const notes = [
    ...(stopReason === "done" ? [] : [`The answer is not whole (${stopReason}): ${reason}`]),
    ...run.denied.map(({ description, note, rule }) => {
      const why = note === undefined ? "" : ` (${note})`;
      const how = rule === undefined ? "" : `; \`llm-do mcp --approve '${rule}'\` would allow it`;
      return `Denied: ${description}${why}${how}`;
    }),
  ];
  const content: ContentBlock[] = [
    { type: "text", text: textOrJson(output) },
    ...notes.map((text): ContentBlock => ({ type: "text", text })),
    ...files,
  ];
  const structured = worker.output && isRecord(output) ? { structuredContent: output } : {};
  // A client validates what is structured; an answer that is not whole may not fit.
  return worker.output && stopReason !== "done" ? { content, isError: true } : { content, ...structured };
}

export function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

/** Describes why a run failed; for one that waits, how it is answered and goes on. The client knows the entry by the name of its tool. */
export function describeFailure(thrown: unknown, tool: string): string {
  const run = thrown instanceof RunError ? thrown.run : undefined;
  if (thrown instanceof RunError && thrown.code === "input_invalid")
    return thrown.message.replace(`the input does not fit \`${thrown.callPath}\``, `the arguments do not fit \`${tool}\``);
  if (!run || run.questions.length === 0) return errorMessage(thrown);
  return `The run waits for answers of a person, at a terminal:\n${renderWaiting(run, run.behind)}`;
}

export function formOf(message: string): ElicitRequestFormParams {
  const answers = ["deny", "approve", "stop"];
  return {
    mode: "form",
    message,
    requestedSchema: {
      type: "object",
      properties: {
        answer: { type: "string", enum: answers, title: "Answer", description: "approve or deny this call, or stop the run" },
        note: { type: "string", title: "Note", description: "for the model, where the call is denied" },
      },
      required: ["answer"],
    },
  };
}

/** Reads the answer of a form. All but a plain `approve` denies or stops. */
export function readDecision(response: unknown): ApprovalDecision {
  const [action, content] = isRecord(response) ? [getOwn(response, "action"), getOwn(response, "content")] : [];
  const [answer, note] = isRecord(content) ? [getOwn(content, "answer"), getOwn(content, "note")] : [];
  const said = typeof note === "string" && note !== "" ? { note } : {};
  if (action === "accept" && answer === "approve") return { type: "approve" };
  if (action === "accept" && answer === "stop") return { type: "stop", ...said };
  return { type: "deny", ...(action === "accept" ? said : { note: "the question was closed without an answer" }) };
}

/** True for a client that says that it shows forms. One of 2026 says so with each request. */
export function canAsk(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope = mcpReq.envelope as Readonly<Record<string, unknown>> | undefined;
  const elicitation = (
    (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined) ?? server.getClientCapabilities()
  )?.elicitation;
  // Clients before 2025-11-25 declare an empty object, and mean forms.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** Sends a line for each event that a person would see: as progress where the request asked for it, as a log message otherwise. */
export function progressOf({ mcpReq }: ServerContext): EventSink {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  return (event) => {
    const message = renderEvent(event);
    if (message === undefined) return;
    progress++;
    const sent =
      progressToken === undefined
        ? mcpReq.log(event.type === "warning" ? "warning" : "info", message, "llm-do")
        : mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, message } });
    // A client that is gone hears nothing.
    sent.catch(() => undefined);
  };
}
