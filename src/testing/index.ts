export type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedError,
  ScriptedFile,
  ScriptedModel,
  ScriptedReply,
  ScriptedRequest,
} from "./scripted-model.ts";
export { defineScript, scriptedModel } from "./scripted-model.ts";
