import { agent, methods, ndJsonStream, PROTOCOL_VERSION, RequestError } from "@agentclientprotocol/sdk";
import type { Message } from "../../protocol/message.ts";
import { escapeText } from "../../util/escape-text.ts";
import { version } from "../../version.ts";
import { Conversation, type ConversationOptions } from "./conversation.ts";
import { fitMessages } from "./fit-messages.ts";
import { toHistory } from "./updates.ts";

/** A recorded run that ended with an answer. */
export interface EarlierRun {
  readonly runId: string;
  /** The head of its prompt. */
  readonly title?: string;
  /** Milliseconds since the epoch. */
  readonly began: number;
}

export interface AcpAgentOptions extends ConversationOptions {
  readonly input: ReadableStream<Uint8Array>;
  /** Gets the protocol's messages and nothing else. */
  readonly output: WritableStream<Uint8Array>;
  /** Runs of this program's entry that a conversation can go on with, newest first. */
  readonly listEarlier: () => Promise<readonly EarlierRun[]>;
  /** Rejects for a run that is not one of those. */
  readonly readEarlier: (runId: string) => Promise<readonly Message[]>;
  readonly onNote: (note: string) => void;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

/** Most conversations that are kept: the oldest one that waits is forgotten, and can be loaded again. */
const mostConversations = 100;

/** Serves a worker as an agent of the Agent Client Protocol (version 1) on a pair of streams. Resolves when the client is gone; rejects with its fault. */
export async function serveAcp(options: AcpAgentOptions): Promise<void> {
  const { program, input, output, listEarlier, readEarlier, onNote, signal } = options;
  const conversations = new Map<string, Conversation>();
  const keep = (id: string, history?: readonly Message[]) => {
    if (conversations.get(id)?.isBusy)
      throw RequestError.invalidRequest(undefined, "a message of this session is being answered");
    const idle = [...conversations.values()].find(({ isBusy }) => !isBusy);
    if (conversations.size >= mostConversations) {
      if (!idle) throw RequestError.invalidRequest(undefined, `${mostConversations} sessions are being answered`);
      conversations.delete(idle.id);
    }
    conversations.set(id, new Conversation(id, options, history));
  };
  const find = (id: string) => {
    const found = conversations.get(id);
    if (!found) throw RequestError.invalidParams(undefined, `there is no session ${id}`);
    return found;
  };
  const noteServers = (servers: readonly unknown[]) => {
    if (servers.length > 0) onNote("MCP servers of the client are not used: a worker has the toolsets that its file names");
  };
  const app = agent({ name: "llm-do" })
    .onRequest(methods.agent.initialize, () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: "llm-do", title: program.name, version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, audio: true, embeddedContext: true },
        sessionCapabilities: { list: {} },
      },
      authMethods: [],
    }))
    .onRequest(methods.agent.session.new, ({ params }) => {
      noteServers(params.mcpServers);
      const sessionId = crypto.randomUUID();
      keep(sessionId);
      return { sessionId };
    })
    .onRequest(methods.agent.session.list, async ({ params: { cwd } }) => ({
      sessions: (cwd == null || cwd === program.root ? await listEarlier() : []).map(({ runId, title, began }) => ({
        sessionId: runId,
        cwd: program.root,
        updatedAt: new Date(began).toISOString(),
        ...(title === undefined ? {} : { title: escapeText(title) }),
      })),
    }))
    .onRequest(methods.agent.session.load, async ({ params: { sessionId, mcpServers }, client }) => {
      noteServers(mcpServers);
      const history = await readEarlier(sessionId).catch(() => {
        throw RequestError.resourceNotFound(sessionId);
      });
      keep(sessionId, history);
      for (const update of toHistory(history)) await client.notify(methods.client.session.update, { sessionId, update });
      return {};
    })
    .onRequest(methods.agent.session.prompt, ({ params, client, signal: ofRequest }) =>
      find(params.sessionId).prompt(client, params, AbortSignal.any([ofRequest, signal])),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => conversations.get(params.sessionId)?.cancel());
  const stream = fitMessages(ndJsonStream(output, input), onNote);
  const connection = app.connect(stream);
  signal.addEventListener("abort", () => connection.close(), { once: true });
  await connection.closed;
  for (const conversation of conversations.values()) conversation.cancel();
  const fault = stream.fault();
  if (fault) throw fault;
}
