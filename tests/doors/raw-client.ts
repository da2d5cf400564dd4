import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { bin, cleanEnvironment } from "../cli/run-cli.ts";

/** A message of JSON-RPC, as it comes. */
export interface RawMessage {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

export interface RawClient {
  readonly child: ChildProcess;
  /** Resolves with the exit code. */
  readonly ended: Promise<number | null>;
  readonly stderr: () => string;
  /** Sends a line as it is, or a message. */
  send(line: string | object): void;
  request(method: string, params: object): { readonly id: number; readonly answer: Promise<RawMessage> };
  /** Resolves with the first message that fits, of those that came or come. */
  find(fits: (message: RawMessage) => boolean): Promise<RawMessage>;
}

/** Starts a door of the command, for a client that keeps to no protocol. */
export function startRaw(args: readonly string[], folder: string, env: Record<string, string> = {}): RawClient {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: folder,
    env: { ...cleanEnvironment(folder), ...env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill());
  child.stdin.on("error", () => undefined);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const messages: RawMessage[] = [];
  const listeners = new Set<(message: RawMessage) => void>();
  createInterface(child.stdout).on("line", (line) => {
    const message = JSON.parse(line) as RawMessage;
    messages.push(message);
    for (const listener of listeners) listener(message);
  });
  const find: RawClient["find"] = (fits) =>
    new Promise((resolve, reject) => {
      const found = messages.find(fits);
      if (found) return resolve(found);
      listeners.add((message) => fits(message) && resolve(message));
      ended.then(() => reject(new Error(`the server ended: ${stderr}`)));
    });
  const send = (line: string | object) =>
    void child.stdin.write(`${typeof line === "string" ? line : JSON.stringify({ jsonrpc: "2.0", ...line })}\n`);
  let next = 1000;
  const request: RawClient["request"] = (method, params) => {
    const id = next++;
    send({ id, method, params });
    const answer = find((message) => message.id === id && message.method === undefined);
    // Some tests leave a request without an answer.
    answer.catch(() => undefined);
    return { id, answer };
  };
  return { child, ended, send, request, find, stderr: () => stderr };
}
