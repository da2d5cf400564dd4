import type { MappedRow } from "../../map/map-rows.ts";
import { dollars } from "../../ui/render-usage.ts";
import { formatCount } from "../../util/text/format-count.ts";

/** Counts the rows of a map as they end. */
export class MapProgress {
  readonly #started = performance.now();
  readonly #counts = new Map<MappedRow["stopReason"], number>();
  #rows = 0;
  #usd = 0;
  /** Undefined: not known yet. */
  total: number | undefined;

  note({ stopReason, usage }: MappedRow): void {
    this.#rows++;
    this.#usd += usage?.usd ?? 0;
    this.#counts.set(stopReason, (this.#counts.get(stopReason) ?? 0) + 1);
  }

  count(...reasons: readonly MappedRow["stopReason"][]): number {
    return reasons.reduce((sum, reason) => sum + (this.#counts.get(reason) ?? 0), 0);
  }

  /** `[=====     ] 500 of 1,000, 12.5 rows/s, $0.42, 40 s left`. */
  bar(): string {
    const { total } = this;
    const rate = this.#rows / this.#seconds();
    const width = 20;
    const filled = total ? Math.round((width * this.#rows) / total) : 0;
    const left = total === undefined || rate === 0 ? [] : [`${time((total - this.#rows) / rate)} left`];
    const drawn = total === undefined ? "" : `[${"=".repeat(filled)}${" ".repeat(width - filled)}] `;
    const of = total === undefined ? "rows" : `of ${number(total)}`;
    return `${drawn}${number(this.#rows)} ${of}, ${rate.toFixed(1)} rows/s, ${[dollars(this.#usd), ...left].join(", ")}`;
  }

  /** `1,000 rows in 80 s: 997 done, 2 failed, 1 uncertain; $1.20`. */
  summary(): string {
    const counts = [...this.#counts].map(([reason, count]) => `${number(count)} ${reason}`);
    const what = counts.length === 0 ? "" : `: ${counts.join(", ")}`;
    return `${number(this.#rows)} rows in ${time(this.#seconds())}${what}; ${dollars(this.#usd)}`;
  }

  #seconds(): number {
    return Math.max(0.001, (performance.now() - this.#started) / 1000);
  }
}

function number(value: number): string {
  return formatCount(value);
}

function time(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
