import type { Patience } from "../host/patience.ts";
import { getOrMake } from "../util/get-or-make.ts";
import type { ModelSettings } from "./model.ts";

/** Seconds. A long answer that is not streamed begins after minutes. */
export const defaultTimeouts = { connect_timeout: 10, first_byte_timeout: 1800, idle_timeout: 1800 } as const;

export type Timeouts = Pick<ModelSettings, "timeout" | keyof typeof defaultTimeouts>;

interface SplitSettings {
  /** How long a request waits. */
  readonly timeouts: Timeouts;
  /** The settings that are sent to the model: no time-outs, and no retries. */
  readonly asked: ModelSettings;
}

const split = new WeakMap<ModelSettings, SplitSettings>();

/** Takes apart how long a request waits, and what it asks for: once for the settings of a worker, which never change. */
export function splitSettings(all: ModelSettings): SplitSettings {
  return getOrMake(split, all, () => {
    const { timeout, connect_timeout, first_byte_timeout, idle_timeout, max_retries: _, max_retry_wait: _wait, ...asked } = all;
    const given = Object.entries({ timeout, connect_timeout, first_byte_timeout, idle_timeout });
    return { timeouts: Object.fromEntries(given.filter(([, value]) => value !== undefined)), asked };
  });
}

/** `timeout` stands for the two silences of a connected server where they are not named. */
export function toPatience({ timeout, ...named }: Timeouts): Patience {
  const silence = timeout === undefined ? {} : { first_byte_timeout: timeout, idle_timeout: timeout };
  const all = { ...defaultTimeouts, ...silence, ...named };
  return { connect: all.connect_timeout * 1000, firstByte: all.first_byte_timeout * 1000, idle: all.idle_timeout * 1000 };
}

/** Returns what went wrong, for the code of an error of `fetch`; undefined if it is none of a time-out. */
export function describeSilence(code: string | undefined, patience: Patience): string | undefined {
  const silences: Readonly<Record<string, string>> = {
    UND_ERR_CONNECT_TIMEOUT: `no connection was made within ${patience.connect / 1000} s (\`model_settings.connect_timeout\`)`,
    UND_ERR_HEADERS_TIMEOUT: `its answer did not begin within ${patience.firstByte / 1000} s (\`model_settings.first_byte_timeout\`)`,
    UND_ERR_BODY_TIMEOUT: `its answer stopped for ${patience.idle / 1000} s (\`model_settings.idle_timeout\`)`,
  };
  return code === undefined ? undefined : silences[code];
}
