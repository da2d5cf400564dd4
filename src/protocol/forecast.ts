/** The expected outcome of an unattended run, as far as it is known beforehand. */
export interface Forecast {
  readonly v: 1;
  /** `reject_all`: the manifest says so, and what asks is denied also where somebody could be asked. */
  readonly approval: "prompt" | "reject_all";
  /** Tools that do not simply run, in the order in which they are met from the entry. */
  readonly calls: readonly ForecastCall[];
}

export interface ForecastCall {
  /** The worker that calls; the entry's name where code calls. */
  readonly caller: string;
  /** The name by which it is called. */
  readonly tool: string;
  /** `asks`: is denied. `depends`: some calls may be denied. `blocked`: never runs. `unverified`: its code was not looked at. */
  readonly verdict: "asks" | "depends" | "blocked" | "unverified";
  readonly why: string;
  /** The line of the caller's file that would allow it. Absent if none does. */
  readonly allow?: string;
  /** The rule of `--approve` that would allow it, where no file can. */
  readonly approve?: string;
}
