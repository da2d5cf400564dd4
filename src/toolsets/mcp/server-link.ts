import type { Transport } from "@modelcontextprotocol/client";
import type { Host } from "../../host/host.ts";

export interface ServerHost extends Pick<Host, "clock" | "commands" | "fetch" | "files" | "openScopes"> {
  /** Returns a `fetch` with the user's login at this address; undefined if the user is not logged in. Absent: there are no logins. */
  readonly fetchWithLogin?: (address: string) => Promise<Host["fetch"] | undefined>;
}

/** The longest message of a server that is read, in bytes. */
export const maxMessageBytes = 10_000_000;

/** A way to a server: a process of this machine, or an address. */
export interface ServerLink {
  readonly transport: Transport;
  /** Aborts when nothing more comes over the link, with an `Error` that says why. */
  readonly ended: AbortSignal;
  /** Returns whether a process has begun. Absent: there is none to begin. */
  readonly hasBegun?: () => boolean;
  /** Ends the link. Resolves when nothing is left of it. */
  readonly stop: () => Promise<void>;
}
