import { RequestError, type SessionInfo } from "@agentclientprotocol/sdk";
import type { Message } from "../../protocol/message.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { Conversation, type ConversationOptions } from "./conversation.ts";

/** A recorded run that ended with an answer. */
export interface EarlierRun {
  readonly runId: string;
  /** The head of its prompt. */
  readonly title?: string;
  /** Milliseconds since the epoch. */
  readonly began: number;
}

export interface ConversationsOptions extends ConversationOptions {
  /** Runs of this program's entry that a conversation can go on with, newest first. */
  readonly listEarlier: () => Promise<readonly EarlierRun[]>;
  /** Rejects for a run that is not one of those. */
  readonly readEarlier: (runId: string) => Promise<readonly Message[]>;
}

/** Most conversations that are kept: the oldest one that waits is forgotten, and can be loaded again. */
const mostKept = 100;

/** The conversations of a client, by the ids of their sessions. */
export class Conversations {
  readonly #options: ConversationsOptions;
  readonly #kept = new Map<string, Conversation>();

  constructor(options: ConversationsOptions) {
    this.#options = options;
  }

  begin(): string {
    const id = crypto.randomUUID();
    this.#keep(id);
    return id;
  }

  /** Throws a `RequestError` if there is none. */
  find(id: string): Conversation {
    const found = this.#kept.get(id);
    if (!found) throw RequestError.invalidParams(undefined, `there is no session ${id}`);
    return found;
  }

  /** Earlier conversations of the program; none for another folder. */
  async list(folder: string | null | undefined): Promise<SessionInfo[]> {
    const { program, listEarlier } = this.#options;
    if (folder != null && folder !== program.root) return [];
    return (await listEarlier()).map(({ runId, title, began }) => ({
      sessionId: runId,
      cwd: program.root,
      updatedAt: new Date(began).toISOString(),
      ...(title === undefined ? {} : { title: escapeText(title) }),
    }));
  }

  /** Begins an earlier conversation again, and returns its messages. */
  async load(id: string): Promise<readonly Message[]> {
    const history = await this.#options.readEarlier(id).catch(() => {
      throw RequestError.resourceNotFound(id);
    });
    this.#keep(id, history);
    return history;
  }

  /** Ends what a conversation is doing; without an id, what all of them are doing. */
  cancel(id?: string): void {
    for (const conversation of this.#kept.values()) if (id === undefined || conversation.id === id) conversation.cancel();
  }

  #keep(id: string, history?: readonly Message[]): void {
    if (this.#kept.get(id)?.isBusy) throw RequestError.invalidRequest(undefined, "a message of this session is being answered");
    if (this.#kept.size >= mostKept) {
      const idle = [...this.#kept.values()].find(({ isBusy }) => !isBusy);
      if (!idle) throw RequestError.invalidRequest(undefined, `${mostKept} sessions are being answered`);
      this.#kept.delete(idle.id);
    }
    this.#kept.set(id, new Conversation(id, this.#options, history));
  }
}
