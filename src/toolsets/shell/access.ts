import type { CommandRequest, Commands } from "../../host/commands.ts";
import type { ResolvedPath } from "../../host/scopes/scopes.ts";
import type { Preview } from "../../protocol/approval.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { OwnVerdict, RuleText } from "../toolset.ts";
import type { Effects } from "./effects.ts";

/** Access of the toolset to the machine. */
export interface ShellAccess {
  readonly commands: Commands;
  /** Commands may ask for the network (`sandbox.network_enabled`). */
  readonly networkEnabled: boolean;
  /** Plain readers, and what rules spell out, run without a question where they cannot be isolated. Default false. */
  readonly unisolated?: boolean;
  /** The worker has no scopes: its commands have a folder of their own, and may write in it. Default false. */
  readonly hasOwnFolder?: boolean;
}

/** A command as it would run. */
export interface PlannedRun {
  readonly request: CommandRequest["command"];
  readonly cwd: ResolvedPath;
  readonly timeoutSeconds: number;
  /** What it may do beyond looking. */
  readonly effects: Effects;
  /** The folders of `effects.writes`, or the folder of its own. */
  readonly writes: readonly ResolvedPath[];
  /** Why it is not isolated. Undefined behind a kernel wall. */
  readonly notIsolated: string | undefined;
}

/** A call as it was prepared: judged, shown, and then run as it is. */
export interface ShellWork extends PlannedRun {
  readonly verdict: OwnVerdict;
  /** Programs that it starts, each with its arguments. Without any, the line as it stands. */
  readonly started: readonly RuleText[];
  readonly description: string;
  readonly preview: Preview;
  readonly canonicalArgs: JsonObject;
  /** Facts that the judgement rests on, for the comparison after the question, and content to which an approval for the run is bound. */
  readonly facts: JsonObject;
}
