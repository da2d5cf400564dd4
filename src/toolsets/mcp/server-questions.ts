import type { Client, ElicitRequest, ElicitResult } from "@modelcontextprotocol/client";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import { toJsonValue } from "../../util/json/to-json-value.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { askUser, readFields } from "../foreign-question.ts";
import type { WorkerRuntime } from "../toolset.ts";
import type { Patience } from "./patience.ts";

/** A call of a server's tool that has no result yet. */
export interface CallInFlight {
  readonly runtime: WorkerRuntime;
  readonly patience: Patience;
}

/** Limits for the texts of a question that people see. */
const maxMessageCharacters = 4000;
const maxSchemaCharacters = 20_000;

/**
 * Answers questions (elicitation) of a server while it works on a call. Transports do not always say which call a question belongs to:
 * it is put for the oldest one. Declines without a call.
 */
export function letServerAsk(client: Client, name: string, calls: ReadonlySet<CallInFlight>): void {
  client.setRequestHandler("elicitation/create", async ({ params }): Promise<ElicitResult> => {
    const [call] = calls;
    const schema = readSchema(params);
    if (!call || !schema) return { action: "decline" };
    const message = clipText(params.message, maxMessageCharacters).toWellFormed();
    const proceed = call.patience.pause();
    try {
      const answer = await askUser(call.runtime, { from: `the MCP server ${name}`, message, fields: readFields(schema) });
      return answer.type === "answered"
        ? { action: "accept", content: answer.values as ElicitResult["content"] }
        : { action: "decline" };
    } finally {
      proceed();
    }
  });
}

/** Returns undefined for questions that open an address, and for schemas that are too long. */
function readSchema(params: ElicitRequest["params"]): JsonObject | undefined {
  const schema = "requestedSchema" in params ? toJsonValue(params.requestedSchema) : undefined;
  return isRecord(schema) && JSON.stringify(schema).length <= maxSchemaCharacters ? (schema as JsonObject) : undefined;
}
