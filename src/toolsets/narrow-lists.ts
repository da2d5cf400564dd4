import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { quoteNames } from "../util/did-you-mean.ts";
import type { Narrowed } from "./toolset.ts";

/** Narrows a configuration key by key. What a function returns takes the place of the key; a text in `refused` refuses it. */
export function narrowKeys(
  own: JsonObject,
  wish: JsonObject,
  keys: Readonly<Record<string, (own: JsonValue | undefined, wish: JsonValue, refuse: (why: string) => void) => JsonValue>>,
): Narrowed {
  const refused: string[] = [];
  const wished = Object.entries(wish).flatMap(([key, value]): [string, JsonValue][] => {
    const narrow = Object.hasOwn(keys, key) ? keys[key] : undefined;
    // The toolset's own schema reports unknown keys.
    return [[key, narrow ? narrow(own[key], value, (why) => refused.push(`\`${key}\`: ${why}`)) : value]];
  });
  const config = { ...own, ...Object.fromEntries(wished) };
  return refused.length === 0 ? { ok: true, config } : { ok: false, why: refused.join("; ") };
}

export type NarrowKey = Parameters<typeof narrowKeys>[2][string];

/** A number that is no larger. */
export function atMost(standard = Number.POSITIVE_INFINITY): NarrowKey {
  return (own, wish, refuse) => {
    const most = typeof own === "number" ? own : standard;
    if (typeof wish === "number" && wish > most) refuse(`${wish} is too much; at most ${most}`);
    return wish;
  };
}

/** A list that holds no other texts. `empty`: what an empty list stands for. */
export function among(empty: "all" | "none"): NarrowKey {
  return (own, wish, refuse) => {
    if (!Array.isArray(own) || !Array.isArray(wish) || (own.length === 0 && empty === "all")) return wish;
    const known = own.map(String);
    const isOpen = wish.length === 0 && empty === "all";
    if (isOpen || wish.some((one) => !known.includes(String(one)))) refuse(`to be had: ${quoteNames(known) || "none"}`);
    return wish;
  };
}
