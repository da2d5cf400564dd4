import type { MappedRow, MapRequest } from "./map-rows.ts";

export type { MappedRow, MapRequest } from "./map-rows.ts";

/**
 * Runs a program once for each row, and yields results in the order of the rows. Each row is a run of its own, with its record. A failure of
 * one row is its result; what all rows would meet rejects, such as a missing key. Ends early if the account is used up: the last rows say so.
 */
export async function* mapRuns(request: MapRequest): AsyncGenerator<MappedRow, void> {
  // Loaded by those alone who map: tools import the public names, too.
  const { mapRows } = await import("./map-rows.ts");
  yield* mapRows(request);
}
