// The front door.

// Approval.
export type { ApprovalPolicy, Approver, ApproverOptions } from "./approval/policy.ts";
export type { RememberedApprovals } from "./approval/rules/remembered-approvals.ts";
// Steps between prose and code.
export type { RecordedCall } from "./boundary/calls/recorded-calls.ts";
export type { Draft as StabiliseDraft } from "./boundary/drafts/draft-function.ts";
export type { CandidateFigures, StepFigures } from "./boundary/step-figures.ts";
export {
  type CallsRequest,
  type ComparisonRequest,
  calls,
  compare,
  type SoftenReport,
  type SoftenRequest,
  type StabiliseReport,
  type StabiliseRequest,
  soften,
  stabilise,
} from "./boundary/steps.ts";
export type { Compiled } from "./compile/compile.ts";
export { CompileError, type NeedOfTrust, UntrustedProgram } from "./compile/compile-error.ts";
export { type DefinedWorker, defineWorker, type WorkerDefinition } from "./compile/define-worker.ts";
export type { Diagnostic, DiagnosticNote, Severity } from "./diagnostics/diagnostic.ts";
export {
  type CallJudge,
  type CompileRequest,
  type CreateWorkerOptions,
  compile,
  createWorker,
  type ForkPoint,
  type ForkRequest,
  fork,
  type JudgedCall,
  type Judgement,
  judgeCalls,
  type RecordedConversation,
  type ReplayReport,
  type ReplayRequest,
  type ResumeRequest,
  type RunOutput,
  type RunRequest,
  readConversation,
  replay,
  resume,
  run,
  type TypedRunOutput,
  type UndoneFile,
  type UndoPlan,
  type UndoReport,
  type UndoRequest,
  undo,
} from "./front/llm-do.ts";
export {
  type AnswerRequest,
  answerQuestions,
  CannotResume,
  listQuestions,
  type QuestionAnswer,
  type QuestionsRequest,
  type WaitingRun,
} from "./front/questions.ts";
export { type RunningRun, start } from "./front/start.ts";
// The machine.
export type { Host } from "./host/host.ts";
export { ScopeError, type Scopes } from "./host/scopes/scopes.ts";
export { type MappedRow, type MapRequest, mapRuns } from "./map/map-runs.ts";
// Models.
export {
  fromLanguageModel,
  type LanguageModel,
  type LanguageModelAccess,
  type LanguageModelSource,
} from "./models/library/from-language-model.ts";
export {
  type GenerateOptions,
  type Model,
  ModelError,
  type ModelErrorCode,
  type ModelRequest,
  type ModelResponse,
  type ReportedUsage,
} from "./models/model.ts";
export type { Price, PriceOverrides } from "./models/prices.ts";
export type { Provider, ProviderEnvironment } from "./models/provider.ts";
export type { ServerToolBound, ServerToolSupport } from "./models/server-tools.ts";
export type { Program, Worker } from "./program/program.ts";
export type {
  ApprovalDecision,
  ApprovalMode,
  ApprovalRequest,
  ApprovalRule,
  DecisionSource,
  DeniedCall,
  OpenQuestion,
  Preview,
  ProposedRule,
  Verdict,
} from "./protocol/approval.ts";
// Data that travels.
export type { CallPath } from "./protocol/call.ts";
export type { EventSink, RunEvent, RunEventType } from "./protocol/event.ts";
export type { RememberedCall, RuleForRun } from "./protocol/fact.ts";
export type { JsonObject, JsonValue } from "./protocol/json.ts";
export type { Artifact, FilePart, Message, ToolResult } from "./protocol/message.ts";
export type {
  Ceiling,
  Outline,
  OutlinedModel,
  OutlinedScope,
  OutlinedTool,
  OutlinedToolset,
  OutlinedWorker,
  ToolsEstimate,
} from "./protocol/outline.ts";
export type { ServerTool, ServerToolType, ToolError, ToolErrorType } from "./protocol/tool.ts";
export type { LimitName, Limits, Usage } from "./protocol/usage.ts";
export { RunError, type RunErrorCode } from "./runtime/run-error.ts";
export type { Schema } from "./schema/schema.ts";
// Tools.
export type * from "./toolsets/callables.ts";
export { type ToolOptions, type ToolsetOptions, tool, toolset } from "./toolsets/tool.ts";
export type {
  AttachmentHandle,
  CallOptions,
  ConnectAccess,
  Connection,
  ConnectionChange,
  ConnectionNote,
  MapOptions,
  OwnVerdict,
  Preparation,
  PrepareAccess,
  PreparedToolsetCall,
  Reconciliation,
  RecordedPreparation,
  RuleText,
  Target,
  Tool,
  ToolCaller,
  Toolset,
  ToolsetCall,
  ToolsetScope,
  WorkerRuntime,
} from "./toolsets/toolset.ts";
export { blocked, needsApproval, preApproved, ToolFailure, toolFailure } from "./toolsets/toolset.ts";
export type { CreatedWorkerFile } from "./toolsets/workers/dynamic-workers.ts";
export { type Code, type Unsure, unsure } from "./toolsets/workers/unsure.ts";
export type { WorkerSpec } from "./toolsets/workers/worker-toolset.ts";
