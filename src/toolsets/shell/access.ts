import type { CommandRequest, Commands } from "../../host/commands.ts";
import type { ResolvedPath } from "../../host/scopes.ts";
import type { Preview } from "../../protocol/approval.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { OwnVerdict, RuleText } from "../toolset.ts";

/** How the toolset reaches the machine. */
export interface ShellAccess {
  readonly commands: Commands;
  /** Whether commands may use the network (`sandbox.network_enabled`). */
  readonly networkEnabled: boolean;
  /** Whether what rules allow runs without a question where it cannot be isolated. Default false. */
  readonly unisolated?: boolean;
}

/** What would run, and how. */
export interface PlannedRun {
  readonly request: CommandRequest["command"];
  readonly cwd: ResolvedPath;
  readonly timeoutSeconds: number;
  readonly networkEnabled: boolean;
  /** Why nothing keeps it in its place; undefined where a kernel wall does. */
  readonly notIsolated: string | undefined;
  /** Protected names that it may use like others: somebody is asked, or a rule spells out what uses them. */
  readonly opens: readonly string[];
  /** Hooks of a git repository may run: somebody is asked, whatever is pre-approved. */
  readonly hooks: boolean;
}

/** A call as it was prepared: judged, shown, and then run as it is. */
export interface ShellWork extends PlannedRun {
  readonly verdict: OwnVerdict;
  /** What it starts, each program with its arguments; without any, the line as it stands. */
  readonly started: readonly RuleText[];
  readonly description: string;
  readonly preview: Preview;
  readonly canonicalArgs: JsonObject;
  /** What a model can do instead where it is denied. */
  readonly hint?: string;
  /** What the judgement rests on, for the comparison after the question. */
  readonly facts: JsonObject;
  /** What an approval for the run is bound to. */
  readonly content: { readonly now: JsonObject };
}
