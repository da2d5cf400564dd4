import {
  type AgentContext,
  type ContentBlock,
  methods,
  type PromptRequest,
  type PromptResponse,
  RequestError,
} from "@agentclientprotocol/sdk";
import type { Approver } from "../../approval/policy.ts";
import { type Program, type RunOutput, type RunRequest, run } from "../../front/llm-do.ts";
import type { ApprovalDecision, ApprovalRequest, ApprovalRule } from "../../protocol/approval.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { RunError } from "../../runtime/run-error.ts";
import { textOrJson } from "../../ui/explain/phrases.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { renderQuestion } from "../render-question.ts";
import type { DoorRuns } from "../running-call.ts";
import { readPermission, toPermission } from "./permissions.ts";
import { chunk, fileChunk, toUpdate } from "./updates.ts";

export interface ConversationOptions extends DoorRuns {
  readonly program: Program;
}

interface ConversationMessage {
  readonly blocks: readonly ContentBlock[];
  readonly signal: AbortSignal;
  /** `_meta` of the request. */
  readonly caller: Readonly<Record<string, unknown>> | undefined;
}

/**
 * A conversation of a client with a worker. Each message is a run of its own, recorded as any other, that goes on with the messages
 * before it. What was approved for good holds in all of them, while the process lives.
 */
export class Conversation {
  readonly id: string;
  readonly #options: ConversationOptions;
  #history: readonly Message[];
  #controller: AbortController | undefined;
  /** Calls that were approved with what they showed, and rules. */
  readonly #approved = new Set<string>();
  readonly #rules: ApprovalRule[] = [];

  constructor(id: string, options: ConversationOptions, history: readonly Message[] = []) {
    this.id = id;
    this.#options = options;
    this.#history = history;
  }

  /** A message is being answered. */
  get isBusy(): boolean {
    return this.#controller !== undefined;
  }

  /** Answers a message. Rejects with a `RequestError` if the run failed; the conversation then stays as it was. */
  async prompt(client: AgentContext, { prompt, _meta }: PromptRequest, outer: AbortSignal): Promise<PromptResponse> {
    if (this.#controller) throw RequestError.invalidRequest(undefined, "a message of this session is being answered");
    const controller = new AbortController();
    this.#controller = controller;
    const signal = AbortSignal.any([controller.signal, outer]);
    let stray: Error | undefined;
    try {
      const output = await this.#options.within(
        (reason) => {
          stray = reason;
          controller.abort(reason);
        },
        () => this.#run(client, { blocks: prompt, signal, caller: _meta ?? undefined }),
      );
      this.#history = output.messages;
      return { stopReason: output.stopReason === "done" ? "end_turn" : "max_tokens" };
    } catch (thrown) {
      if (signal.aborted && !stray) return { stopReason: "cancelled" };
      if (thrown instanceof RequestError) throw thrown;
      const code = thrown instanceof RunError ? thrown.code : undefined;
      if (code === "refused") return { stopReason: "refusal" };
      const message = escapeText(errorMessage(stray ?? thrown), { keepNewlines: true, keepBackslashes: true });
      throw code === "input_invalid"
        ? RequestError.invalidParams(undefined, message)
        : RequestError.internalError(undefined, message);
    } finally {
      this.#controller = undefined;
    }
  }

  cancel(): void {
    this.#controller?.abort(new Error("the client cancelled the message"));
  }

  async #run(client: AgentContext, { blocks, signal, caller }: ConversationMessage): Promise<RunOutput> {
    const { program, request, policy } = this.#options;
    const { onEvent, ...tracing } = this.#options.trace(caller);
    const notify = (update: ReturnType<typeof toUpdate>) => {
      if (update) client.notify(methods.client.session.update, { sessionId: this.id, update }).catch(() => undefined);
    };
    const approver: Approver = (question, { signal: asking }) => this.#ask(client, question, asking);
    const approval = {
      ...policy,
      rules: [...(policy.rules ?? []), ...this.#rules],
      ...(policy.mode === "prompt" ? { approver } : {}),
    };
    let streamed = "";
    const output = await run({
      ...request,
      ...tracing,
      ...readBlocks(blocks),
      ...{ program, approval, signal, history: this.#history, deltas: true },
      onEvent: (event) => {
        if (event.type === "turn-start" && event.depth === 0) streamed = "";
        if (event.type === "text-delta" && event.depth === 0) streamed += event.text;
        notify(toUpdate(event));
        onEvent?.(event);
      },
    });
    const text = textOrJson(output.output);
    if (text !== streamed)
      notify(chunk("agent_message_chunk", typeof output.output === "string" ? text : `\`\`\`json\n${text}\n\`\`\``));
    for (const file of output.artifacts) notify(fileChunk(file));
    if (output.reason !== undefined) notify(chunk("agent_message_chunk", `\n\n(The answer is not whole: ${output.reason})`));
    return output;
  }

  async #ask(client: AgentContext, question: ApprovalRequest, signal: AbortSignal): Promise<ApprovalDecision> {
    const key = canonicalJson(shownOf(question));
    if (this.#approved.has(key)) return { type: "approve" };
    const text = renderQuestion(question);
    if (text === undefined) return { type: "deny", note: "the question is too long for a client to show it whole" };
    const { program } = this.#options;
    const permission = toPermission({ id: this.id, program }, question, text);
    const asked = client.request(methods.client.session.requestPermission, permission, { cancellationSignal: signal });
    const decision = readPermission(await asked, question);
    if (decision.type === "approve" && decision.remember && question.canRemember) this.#approved.add(key);
    if (decision.type === "approve" && decision.rule !== undefined)
      this.#rules.push({ effect: "allow", rule: decision.rule, source: "allowed in this conversation" });
    return decision;
  }
}

/** Everything that a question shows but its place in the run: an approval is of exactly that. */
function shownOf({ runId: _, callPath: __, position: ___, rules: ____, ...shown }: ApprovalRequest): JsonObject {
  return shown as unknown as JsonObject;
}

/**
 * The input that a message makes. Texts that a client embeds are context beside it; links stay names: a worker reads through its scopes
 * alone.
 */
function readBlocks(blocks: readonly ContentBlock[]): Required<Pick<RunRequest, "input" | "fragments" | "attachments">> {
  const texts: string[] = [];
  const fragments: string[] = [];
  const attachments: { readonly name: string; readonly bytes: Uint8Array }[] = [];
  const attach = (name: string, data: string) => {
    if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(data)) throw RequestError.invalidParams(undefined, `${name} is no base64`);
    attachments.push({ name, bytes: Buffer.from(data, "base64") });
  };
  for (const block of blocks) {
    if (block.type === "text") texts.push(block.text);
    else if (block.type === "resource_link") texts.push(`[${block.name}](${block.uri})`);
    else if (block.type === "resource" && "text" in block.resource)
      fragments.push(`${block.resource.uri}:\n${block.resource.text}`);
    else if (block.type === "resource" && "blob" in block.resource) attach(nameOf(block.resource.uri), block.resource.blob);
    else if (block.type === "image" || block.type === "audio") attach(`${block.type}-${attachments.length + 1}`, block.data);
  }
  return { input: texts.join(""), fragments, attachments };
}

function nameOf(uri: string): string {
  return uri.split(/[\\/]/).at(-1)?.slice(0, 100) || "file";
}
