import type { CommandRequest, Commands } from "../../host/commands.ts";
import type { ResolvedPath } from "../../host/scopes.ts";
import type { Preview } from "../../protocol/approval.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { OwnVerdict, RuleText } from "../toolset.ts";
import type { Effects } from "./effects.ts";

/** Access of the toolset to the machine. */
export interface ShellAccess {
  readonly commands: Commands;
  /** Commands may use the network (`sandbox.network_enabled`). */
  readonly networkEnabled: boolean;
  /** Commands that rules allow run without a question where they cannot be isolated. Default false. */
  readonly unisolated?: boolean;
}

/** A command as it would run. */
export interface PlannedRun {
  readonly request: CommandRequest["command"];
  readonly cwd: ResolvedPath;
  readonly timeoutSeconds: number;
  readonly networkEnabled: boolean;
  /** What it may do beyond looking. Undefined where the call names no effect: the rules alone decide then. */
  readonly effects: Effects | undefined;
  /** The folders of `effects.writes`. */
  readonly writes: readonly ResolvedPath[];
  /** Why it is not isolated. Undefined behind a kernel wall. */
  readonly notIsolated: string | undefined;
  /** Protected names that it may use like others: a person is asked, or a rule spells out what uses them. */
  readonly opens: readonly string[];
  /** As `CommandRequest.openScopes`: the scope that it runs in. Undefined: all, since a person is asked, or git records them. */
  readonly openScopes: readonly string[] | undefined;
  /** Hooks of a git repository may run: a person is asked, whatever is pre-approved. */
  readonly hooks: boolean;
}

/** A call as it was prepared: judged, shown, and then run as it is. */
export interface ShellWork extends PlannedRun {
  readonly verdict: OwnVerdict;
  /** Programs that it starts, each with its arguments. Without any, the line as it stands. */
  readonly started: readonly RuleText[];
  readonly description: string;
  readonly preview: Preview;
  readonly canonicalArgs: JsonObject;
  /** Tells a model what it can do instead where the call is denied. */
  readonly hint?: string;
  /** Facts that the judgement rests on, for the comparison after the question. */
  readonly facts: JsonObject;
  /** Content to which an approval for the run is bound. */
  readonly content: { readonly now: JsonObject };
  /** It changes nothing anywhere. */
  readonly isLook: boolean;
}
