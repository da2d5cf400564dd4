/** The key of the fact that the time of a call was up. */
export const timeKey = "seconds";
/** The same for the time of the run, under the entry's path. */
export const runTimeKey = "seconds of the run";
