import type { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Host } from "../host/host.ts";
import type { Toolset } from "../toolsets/toolset.ts";
import type { ProgramCode } from "./program-code.ts";

/** What the passes of one compilation share. */
export interface Compilation {
  readonly host: Host;
  readonly root: string;
  readonly diagnostics: DiagnosticList;
  readonly builtIns: ReadonlyMap<string, Toolset>;
  /** The program's `tools.ts`, loaded when it is first asked for; undefined where there is none. */
  readonly tools: () => Promise<ProgramCode | undefined>;
}
