// The public names of `llm-do/approval`: the gate without the rest.
export type {
  ApprovalDecision,
  ApprovalMode,
  ApprovalRequest,
  ApprovalRule,
  DecisionSource,
  DeniedCall,
  Preview,
  ProposedRule,
  RuleEffect,
  Verdict,
} from "../protocol/approval.ts";
export type { ApprovalPolicy, Approver } from "./policy.ts";
export { createToolGate, type GateableTool, type ToolGate, type ToolGateOptions } from "./tool-gate.ts";
