import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { Conversation } from "../../host/commands.ts";
import { parseJson } from "../../util/json/parse-json.ts";
import { withoutNulls } from "./read-message.ts";
import { maxMessageBytes } from "./server-link.ts";

export interface ProcessTransport extends Transport {
  /** Connects to the process when it begins. */
  readonly converse: Conversation;
  /** Ends the conversation, because the process has ended or is stopped. */
  end(): void;
}

/**
 * Speaks with a server on its stdin and stdout: a line for each message. Lines that are no messages are ignored, as servers log there.
 * `stop` ends the process.
 */
export function createProcessTransport(stop: (why: string) => void): ProcessTransport {
  const waiting: string[] = [];
  let write = (text: string): void => void waiting.push(text);
  let chunks: Uint8Array[] = [];
  let held = 0;
  let hasEnded = false;
  /** Ignores output of a process that is being stopped. */
  let isDeaf = false;
  const transport: ProcessTransport = {
    start: async () => undefined,
    send: async (message) => write(`${JSON.stringify(message)}\n`),
    close: async () => {
      transport.end();
      stop("it was closed");
    },
    end: () => {
      if (hasEnded) return;
      hasEnded = true;
      transport.onclose?.();
    },
    converse: (toProcess) => {
      write = toProcess;
      for (const text of waiting.splice(0)) write(text);
      return listen;
    },
  };
  const receive = (line: string) => {
    const message = parseMessage(line);
    if (message !== undefined) transport.onmessage?.(message);
  };
  const listen = (chunk: Uint8Array) => {
    if (hasEnded || isDeaf) return;
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      const line = Buffer.concat([...chunks, rest.subarray(0, end)]).toString("utf8");
      chunks = [];
      held = 0;
      rest = rest.subarray(end + 1);
      receive(line);
    }
    if (rest.length === 0) return;
    chunks.push(rest);
    held += rest.length;
    if (held <= maxMessageBytes) return;
    chunks = [];
    isDeaf = true;
    stop(`it sent a message of more than ${maxMessageBytes} bytes`);
  };
  return transport;
}

function parseMessage(line: string): JSONRPCMessage | undefined {
  const value = withoutNulls(parseJson(line));
  return typeof value === "object" && value !== null && "jsonrpc" in value ? (value as JSONRPCMessage) : undefined;
}
