import { constants } from "node:fs";

// macOS refuses links in every component of the path with this flag, not in the last one alone.
const noFollowAny = process.platform === "darwin" ? 0x2000_0000 : 0;
// Windows has none of these flags; its links and junctions are seen by lstat.
export const noFollow = (constants.O_NOFOLLOW ?? 0) | noFollowAny;
/** Open a regular file that is no link. Never wait for the other end of a pipe. */
export const readFlags = constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
