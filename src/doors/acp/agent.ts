import { agent, methods, ndJsonStream, PROTOCOL_VERSION } from "@agentclientprotocol/sdk";
import { version } from "../../version.ts";
import { Conversations, type ConversationsOptions } from "./conversations.ts";
import { fitMessages } from "./fit-messages.ts";
import { toHistory } from "./updates.ts";

export interface AcpAgentOptions extends ConversationsOptions {
  readonly input: ReadableStream<Uint8Array>;
  /** Gets the protocol's messages and nothing else. */
  readonly output: WritableStream<Uint8Array>;
  readonly onNote: (note: string) => void;
  /** Ends the connection. */
  readonly signal: AbortSignal;
}

/** Serves a worker as an agent of the Agent Client Protocol (version 1) on a pair of streams. Resolves when the client is gone. */
export async function serveAcp(options: AcpAgentOptions): Promise<void> {
  const { program, input, output, onNote, signal } = options;
  const conversations = new Conversations(options);
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
      return { sessionId: conversations.begin() };
    })
    .onRequest(methods.agent.session.list, async ({ params }) => ({ sessions: await conversations.list(params.cwd) }))
    .onRequest(methods.agent.session.load, async ({ params: { sessionId, mcpServers }, client }) => {
      noteServers(mcpServers);
      const history = await conversations.load(sessionId);
      for (const update of toHistory(history)) await client.notify(methods.client.session.update, { sessionId, update });
      return {};
    })
    .onRequest(methods.agent.session.prompt, ({ params, client, signal: ofRequest }) =>
      conversations.find(params.sessionId).prompt(client, params, AbortSignal.any([ofRequest, signal])),
    )
    .onNotification(methods.agent.session.cancel, ({ params }) => conversations.cancel(params.sessionId));
  const connection = app.connect(fitMessages(ndJsonStream(output, input), onNote));
  signal.addEventListener("abort", () => connection.close(), { once: true });
  await connection.closed;
  conversations.cancel();
}
