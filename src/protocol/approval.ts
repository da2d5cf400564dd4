import type { CallPath } from "./call.ts";
import type { JsonObject, JsonValue } from "./json.ts";

/** The pure outcome of the rules for one call. `blocked` never reaches a person, and no mode unblocks it. */
export type Verdict =
  | { readonly type: "allowed"; readonly why: string }
  /** `isUnstated`: no rule says that it asks, so an author may pre-approve it. */
  | { readonly type: "ask"; readonly why: string; readonly isUnstated: boolean }
  | { readonly type: "blocked"; readonly why: string };

/** The question that an approver sees. Plain data with raw text: the code that shows it must escape it. */
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
  readonly position: QuestionPosition;
  /** The parts of the call that are not shown, in words: `the value of API_KEY`. Absent if everything is shown. */
  readonly notShown?: string;
  /** False if something is not shown: an approval for the run is of exactly what was shown. */
  readonly canRemember: boolean;
  /** Rules that would allow this call and others like it in this run, from narrow to wide. Absent if no rule can allow it. */
  readonly rules?: readonly ProposedRule[];
}

/** A question of a suspended run that waits for its answer. */
export interface OpenQuestion {
  /** Names the question and what it asks about: it changes with them. */
  readonly id: string;
  readonly callPath: CallPath;
  readonly key: string;
  /** The digest of the call as it was looked at. */
  readonly digest: string;
  /** As an approver sees it. */
  readonly request: ApprovalRequest;
  /** Given already: it takes effect when the run goes on. */
  readonly answer?: ApprovalDecision;
  /** An answer was given, and what it was about has changed since. */
  readonly isChanged?: true;
}

/** `n of m`: a question's number, and how many are known so far. */
export interface QuestionPosition {
  readonly n: number;
  readonly m: number;
  /** Calls that wait for a call before them: it is not known yet which of them ask. Absent for none. */
  readonly waiting?: number;
}

/** `covers`: how many of the calls that asked so far in this run the rule covers; `of`: how many there were. */
export interface ProposedRule {
  /** In the grammar of `--approve`. */
  readonly rule: string;
  readonly covers: number;
  readonly of: number;
}

export type Preview =
  | { readonly type: "diff"; readonly path: string; readonly before: string; readonly after: string }
  | { readonly type: "new-file"; readonly path: string; readonly content: string; readonly bytes: number }
  | WorkerPreview
  | QuestionPreview
  | TextPreview;

/** The preview of a question that a server asks during a call. The arguments are the answer. */
export interface QuestionPreview {
  readonly type: "question";
  /** Names who asks, in words of the program: `the MCP server notes`. */
  readonly from: string;
  readonly message: string;
  readonly fields: readonly QuestionField[];
}

/** A field of an answer. `name`, `about` and `choices` are texts of the server. */
export interface QuestionField {
  readonly name: string;
  readonly about: string;
  /** What it takes, in words: `a text`. With `choices`, these alone. */
  readonly takes: string;
  readonly isRequired: boolean;
  readonly choices?: readonly string[];
  readonly proposed?: JsonValue;
}

export interface TextPreview {
  readonly type: "text";
  readonly text: string;
  /** It is a command line: what looks like the syntax of a shell is marked. */
  readonly syntax?: "shell";
  /** The programs that a command line starts, each with its arguments. */
  readonly programs?: readonly string[];
  /** The place, the time and the rights that a command line gets. */
  readonly setting?: string;
  /** The parts of the call that it does not show, in words. */
  readonly omits?: string;
}

/** The preview of a call of a worker. Its input is in the arguments. */
export interface WorkerPreview {
  readonly type: "worker";
  readonly worker: string;
  /** The caller that `can` is compared with. Absent for code that starts a run. */
  readonly caller?: string;
  /** Abilities of the worker, by itself or through what it calls, that its caller does not have: a text each. */
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

/**
 * `rule`: approves this call, and in this run every call that the rule covers and nobody made to ask. One of the request's `rules`, or
 * another that covers the call. Not together with `args`.
 */
export type ApprovalDecision =
  | {
      readonly type: "approve";
      readonly remember?: "run";
      readonly rule?: string;
      readonly args?: JsonObject;
      readonly note?: string;
    }
  | { readonly type: "deny"; readonly note?: string }
  | { readonly type: "stop"; readonly note?: string };

/** The source of a decision. It tells a person's answer from that of a mode. */
export type DecisionSource =
  | "person"
  | "memory"
  | "rule"
  | "approve_all"
  | "reject_all"
  | "nobody"
  | "repeated"
  | "timeout"
  | "error";

/** The effect of a rule: `allow` pre-approves calls that nothing else decides, `ask` always asks, `block` never lets them run. */
export type RuleEffect = "allow" | "ask" | "block";

/** `rule` is written as `worker/tool(pattern)`; docs/approval.md has the grammar. `source` says where it was written. */
export interface ApprovalRule {
  readonly effect: RuleEffect;
  readonly rule: string;
  readonly source?: string;
}

export type ApprovalMode = "prompt" | "approve_all" | "reject_all";

/** One thing a run needed and did not get; `allow` are the lines of configuration that would allow it. */
export interface DeniedCall extends Pick<ApprovalRequest, "callPath" | "worker" | "tool" | "description"> {
  readonly source: DecisionSource;
  readonly note?: string;
  readonly allow?: string;
  /** A rule that would allow it. */
  readonly rule?: string;
}
