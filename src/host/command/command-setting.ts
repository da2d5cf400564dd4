import type { CommandRequest } from "../commands.ts";
import type { OwnWrites } from "../files/own-writes.ts";
import type { Host } from "../host.ts";
import type { ScopeSystem } from "../scopes/open-scopes.ts";
import type { ScopeTable } from "../scopes/scope-table.ts";
import type { GitSteering } from "../wall/git/git-steering.ts";
import type { GitView } from "../wall/git/git-view.ts";
import type { HiddenEntries } from "../wall/hidden-entries.ts";
import type { ProtectedEntries } from "../wall/protected-entries.ts";
import type { WritePlace } from "../wall/write-places.ts";

/** The host that commands belong to. */
export interface Machine extends Pick<Host, "environment" | "homeDirectory" | "stateDirectory" | "configFile" | "processes"> {
  /** False: as on a machine that has none. */
  readonly wall: boolean;
  readonly writes: OwnWrites;
  readonly openRoot: ScopeSystem["openRoot"];
}

/** All that is known of a command before its process is described. */
export interface CommandSetting {
  readonly request: CommandRequest;
  readonly machine: Machine;
  readonly table: ScopeTable;
  /** PATH, without what the command could write to. */
  readonly path: readonly string[];
  /** The parent's, and what its toolchains need where HOME is another folder. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homes: readonly string[];
  readonly shell: string | undefined;
  /** Content of `.gitconfig` in the command's home; undefined if it has none. */
  readonly gitConfiguration: string | undefined;
  readonly before: ProtectedEntries;
  /** What it must not see. Empty without a wall. */
  readonly hidden: HiddenEntries;
  /** Host paths of git directories with other names than `.git`. */
  readonly gitFolders: ReadonlySet<string>;
  readonly steering: GitSteering;
  /** The files of git that it sees in place of those on the disk; undefined if there are none. */
  readonly git: GitView | undefined;
  /** Receives the host paths that a command with `scratch` wrote. */
  readonly onWritten: (paths: readonly string[]) => void;
  /** The folders that it may write in. */
  readonly places: readonly WritePlace[];
}
