export type {
  Script,
  ScriptedAnswer,
  ScriptedCall,
  ScriptedError,
  ScriptedFile,
  ScriptedMadeFile,
  ScriptedModel,
  ScriptedReply,
  ScriptedRequest,
  ScriptedServerCall,
} from "./scripted-model.ts";
export { defineScript, scriptedModel } from "./scripted-model.ts";
