import type { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Spanned } from "../diagnostics/source.ts";
import type { Host } from "../host/host.ts";
import type { WorkerRecords } from "../host/own-files/worker-records.ts";
import type { ManifestFile } from "../language/manifest.ts";
import type { UserConfigFile } from "../language/user-config.ts";
import type { SkillFiles } from "../toolsets/skills/skill-files.ts";
import type { Toolset } from "../toolsets/toolset.ts";
import type { Home } from "./home.ts";
import type { LinkedRule } from "./link/link-rules.ts";
import type { ScopeRoots } from "./link/scope-roots.ts";
import type { Modules } from "./modules/modules.ts";
import type { Packages } from "./modules/packages.ts";
import type { Overrides } from "./overrides.ts";
import type { ProgramFiles } from "./program-files.ts";

/** State that the passes of one compilation share. */
export interface Compilation {
  readonly host: Host;
  /** The manifest's, or the folder's. */
  readonly name: string;
  /** Absolute path of the program's folder. */
  readonly root: string;
  /** The same without links: what lies beyond the program's folder is decided by it. */
  readonly realRoot: string;
  /** As in `CompileOptions`. */
  readonly copyOf: string | undefined;
  /** The program itself, as a place of names. */
  readonly home: Home;
  /** Absolute path of the folder of workers that were made in a run. */
  readonly generated: string;
  readonly manifest: ManifestFile | undefined;
  /** The user's configuration. */
  readonly config: UserConfigFile;
  readonly diagnostics: DiagnosticList;
  readonly builtIns: ReadonlyMap<string, Toolset>;
  /** Capabilities of workers that were created in a run. */
  readonly records: WorkerRecords;
  readonly files: ProgramFiles;
  /** Files of skills by their root: as they were when trust was asked for, if it was. */
  readonly skillFiles: Map<string, Promise<SkillFiles>>;
  readonly modules: Modules;
  readonly packages: Packages;
  readonly overrides: Overrides;
  /** The default model of the run, where the program gives it as an option. */
  readonly modelOfProgram: Spanned<string> | undefined;
  readonly rules: readonly LinkedRule[];
  readonly scopeRoots: ScopeRoots;
  /** Values of the environment that configuration asked for, by the name of their variable: to be redacted. */
  readonly secrets: Map<string, string>;
  /** Names of the variables that configuration takes from the environment, those that are not set or not filled in yet included. */
  readonly variables: Set<string>;
  /** Names of the manifest's profiles, toolsets and MCP servers, as written there, that some worker uses. */
  readonly used: Set<object>;
  /** False: `check` of workers is read, and none is made. */
  readonly checks: boolean;
  /** True if the program is to be run now: what it lacks from outside is then an error. */
  readonly toRun: boolean;
}
