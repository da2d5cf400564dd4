// The public names of `llm-do/toolsets`: the contract of tools and toolsets, and ways to combine toolsets.
export { approve, filter, prefix, rename } from "./combinators.ts";
export { type ToolOptions, type ToolsetOptions, tool, toolset } from "./tool.ts";
export type {
  AttachmentHandle,
  CallOptions,
  ConfigWarning,
  ConnectAccess,
  Connection,
  MapOptions,
  OwnVerdict,
  PossibleText,
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
  ToolsetRequirement,
  ToolsetScope,
  WorkerRuntime,
} from "./toolset.ts";
export { blocked, isTool, isToolset, needsApproval, preApproved, ToolFailure, toolFailure } from "./toolset.ts";
