import type { CallPath } from "./call.ts";
import type { JsonObject } from "./json.ts";

/** The pure outcome of the rules for one call. `blocked` never reaches a person, and no mode unblocks it. */
export type Verdict =
  | { readonly type: "allowed"; readonly why: string }
  /** `isUnstated`: nobody wrote that it asks, so an author may pre-approve it. */
  | { readonly type: "ask"; readonly why: string; readonly isUnstated: boolean }
  | { readonly type: "blocked"; readonly why: string };

/** What an approver sees. Plain data; text in it is the raw text: whoever shows it escapes it. */
export interface ApprovalRequest {
  readonly runId: string;
  readonly callPath: CallPath;
  /** The worker (or code) that asks. */
  readonly worker: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly description: string;
  readonly why: string;
  readonly preview?: Preview;
  /** `n of m`: this question's number and how many have come up so far. */
  readonly position: { readonly n: number; readonly m: number };
  /** What of the call is not shown, in words: `the value of API_KEY`. Absent where everything is shown. */
  readonly notShown?: string;
  /** False where something is not shown: an approval for the run is of exactly what was shown. */
  readonly canRemember: boolean;
}

export type Preview =
  | { readonly type: "diff"; readonly path: string; readonly before: string; readonly after: string }
  | { readonly type: "new-file"; readonly path: string; readonly content: string; readonly bytes: number }
  | WorkerPreview
  | {
      readonly type: "text";
      readonly text: string;
      /** It is a command line: what looks like the syntax of a shell is marked. */
      readonly syntax?: "shell";
      /** What it does not show of the call, in words. */
      readonly omits?: string;
    };

/** Of a call of a worker. Its input stands in the arguments. */
export interface WorkerPreview {
  readonly type: "worker";
  readonly worker: string;
  /** Whose call it is: `can` is compared with it. Absent for code that starts a run. */
  readonly caller?: string;
  /** What the worker could do, itself or through what it calls, that its caller cannot: a text each. */
  readonly can: readonly string[];
  /** The worker with its model: who gets the files. */
  readonly destination: string;
  readonly files: readonly AttachmentPreview[];
}

export interface AttachmentPreview {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
}

export type ApprovalDecision =
  | { readonly type: "approve"; readonly remember?: "run"; readonly args?: JsonObject; readonly note?: string }
  | { readonly type: "deny"; readonly note?: string }
  | { readonly type: "stop"; readonly note?: string };

/** How a question was settled: by whom, so that a report can tell a person's answer from a mode's. */
export type DecisionSource = "person" | "memory" | "approve_all" | "reject_all" | "nobody" | "repeated" | "timeout" | "error";

/** What a rule does: `allow` pre-approves what nobody else spoke of, `ask` always asks, `block` never lets it run. */
export type RuleEffect = "allow" | "ask" | "block";

/** `rule` is written as `worker/tool(pattern)`; docs/approval.md has the grammar. `source` says where it was written. */
export interface ApprovalRule {
  readonly effect: RuleEffect;
  readonly rule: string;
  readonly source?: string;
}

export type ApprovalMode = "prompt" | "approve_all" | "reject_all";

/** One thing a run needed and did not get; `allow` are the lines of configuration that would allow it. */
export interface DeniedCall {
  readonly callPath: CallPath;
  readonly worker: string;
  readonly tool: string;
  readonly description: string;
  readonly source: DecisionSource;
  readonly note?: string;
  readonly allow?: string;
  /** A rule that would allow it. */
  readonly rule?: string;
}
