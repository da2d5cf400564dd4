import type { Host } from "../host.ts";
import type { OwnWrites } from "../own-writes.ts";

/** What commands need to know of the host that they belong to. */
export interface Machine extends Pick<Host, "environment" | "homeDirectory" | "stateDirectory"> {
  /** False: as on a machine that has none. */
  readonly wall: boolean;
  readonly writes: OwnWrites;
}
