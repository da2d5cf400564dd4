import type { PriceOverrides } from "../../front/llm-do.ts";
import type { Limits } from "../../protocol/usage.ts";
import type { CompileFlags } from "../programs/open-program.ts";
import type { InputFlags } from "./run-input.ts";

/** The flags of a run, as the parser leaves them. */
export interface RunFlags extends InputFlags, CompileFlags {
  readonly approveAll?: boolean;
  readonly rejectAll?: boolean;
  readonly onDenied?: "return" | "stop";
  /** Questions wait in a suspended run. */
  readonly hold?: boolean;
  /** Seconds. */
  readonly approvalTimeout?: number;
  readonly headless?: boolean;
  readonly tui?: boolean;
  readonly chat?: boolean;
  /** `-c`: goes on with the conversation of the program's last run. */
  readonly continue?: boolean;
  /** Lines alone: nothing on the screen is drawn twice. */
  readonly plain?: boolean;
  readonly json?: boolean;
  /** `-o`: where the result goes in the place of stdout. */
  readonly output?: string;
  /** `--events`: a file, or `-` for stderr. */
  readonly events?: string;
  /** Spans go to an OTLP endpoint. */
  readonly otel?: boolean;
  readonly dryRun?: boolean;
  readonly verbose: number;
  readonly quiet?: boolean;
  readonly limit?: Limits;
  readonly price?: PriceOverrides;
  readonly maxDepth?: number;
  /** `--store`: the command found its store by it before it began. */
  readonly store?: string;
  /** Commander's spelling of `--no-journal`. */
  readonly journal: boolean;
  readonly debug?: boolean;
}
