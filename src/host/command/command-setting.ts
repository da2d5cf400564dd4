import type { CommandRequest } from "../commands.ts";
import type { ScopeTable } from "../scope-table.ts";
import type { Machine } from "./machine.ts";
import type { ProtectedEntries } from "./protected-entries.ts";

/** What a command is run with, once it is known where and what for. */
export interface CommandSetting {
  readonly request: CommandRequest;
  readonly machine: Machine;
  readonly table: ScopeTable;
  /** PATH, without what the command could write to. */
  readonly path: readonly string[];
  readonly homes: readonly string[];
  readonly shell: string | undefined;
  /** What `.gitconfig` holds in the command's home; undefined where it has none. */
  readonly gitConfiguration: string | undefined;
  readonly before: ProtectedEntries;
}
