export type { EventRecorder } from "./event-recorder.ts";
export { eventRecorder } from "./event-recorder.ts";
export type { MemoryClock } from "./memory-clock.ts";
export type { ScriptedCommand, ScriptedFacts, ScriptedResult } from "./memory-commands.ts";
export type { MemoryHost, MemoryHostOptions } from "./memory-host.ts";
export { memoryHost } from "./memory-host.ts";
export type { MemoryContent, MemoryFaults } from "./memory-tree.ts";
export type {
  CaseReport,
  CountedFailure,
  PromptTestOptions,
  RegisterTest,
  TestReport,
} from "./prompt-tests.ts";
export { promptTests, testProgram } from "./prompt-tests.ts";
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
export { createTestRuntime, type TestRuntime, type TestRuntimeOptions } from "./test-runtime.ts";
export { type ConformanceCase, type ConformanceOptions, toolsetConformance } from "./toolset-conformance.ts";
