import type { JsonDiagnostic } from "../../diagnostics/to-json-diagnostic.ts";
import type { DeniedCall, OpenQuestion } from "../../protocol/approval.ts";
import type { StopReason } from "../../protocol/call.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Usage } from "../../protocol/usage.ts";

/** The object of `--json`. Members may be added to version 1; readers ignore those that they do not know. */
export interface JsonResult {
  readonly v: 1;
  /** Null where the run did not begin. */
  readonly runId: string | null;
  /** Text, or a value that fits the entry's `output`. Null where the run failed. */
  readonly output: JsonValue;
  readonly stopReason: StopReason;
  /** The limit that was reached, or what cut the answer off. */
  readonly reason?: string;
  /** Null where the run did not begin. */
  readonly usage: Usage | null;
  readonly artifacts: readonly JsonArtifact[];
  /** Calls that were denied, in the order of the denials. */
  readonly denied: readonly DeniedCall[];
  /** The questions that a suspended run waits for. */
  readonly questions?: readonly OpenQuestion[];
  /** Present if the run failed. */
  readonly error?: JsonError;
  /** The exit code of the command. */
  readonly exitCode: number;
}

/** A file that a provider made in the run. */
export interface JsonArtifact {
  readonly name: string;
  readonly mediaType: string;
  readonly bytes: number;
  readonly sha256: string;
  /** The call that it was made in. */
  readonly callPath: string;
  /** Null where it was not kept. */
  readonly path: string | null;
}

export interface JsonError {
  readonly code: string;
  readonly message: string;
  /** Present for a program with mistakes. */
  readonly diagnostics?: readonly JsonDiagnostic[];
}
