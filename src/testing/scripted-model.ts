import type { Model } from "../models/model.ts";
import { createScriptedModel } from "../models/scripted/create-scripted-model.ts";
import type { Script, ScriptedReply, ScriptedRequest } from "../models/scripted/script.ts";

export type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedError,
  ScriptedFile,
  ScriptedMadeFile,
  ScriptedReply,
  ScriptedRequest,
  ScriptedServerCall,
} from "../models/scripted/script.ts";
export { defineScript } from "../models/scripted/script.ts";

/** A model for tests, with everything that it was asked. */
export interface ScriptedModel extends Model {
  readonly requests: readonly ScriptedRequest[];
}

/**
 * A model that a function plays, or a list of replies, one for each request in the order in which they come (a retried
 * request takes the next one). A request too many fails with `unexpected_request`.
 */
export function scriptedModel(script: Script | readonly (ScriptedReply | string)[], id = "scripted:test"): ScriptedModel {
  const requests: ScriptedRequest[] = [];
  const play: Script =
    typeof script === "function"
      ? script
      : (request) => script[requests.length - 1] ?? request.unexpected(`at most ${script.length} requests`);
  return { ...createScriptedModel(id, play, (request) => requests.push(request)), requests };
}
