import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { getOwn } from "../util/get-own.ts";
import { quoteNames } from "../util/text/did-you-mean.ts";
import type { Narrowed } from "./toolset.ts";

/** Returns what takes the place of a wished value, and refuses one that goes beyond the own. */
export type NarrowKey = (own: JsonValue | undefined, wish: JsonValue, refuse: (why: string) => void) => JsonValue;

interface Narrowing {
  readonly own: JsonObject;
  readonly wish: JsonObject;
  readonly refuse: (key: string, why: string) => void;
}

/** Narrows an object key by key. A key that the wish does not name keeps its value. */
export function narrowEach({ own, wish, refuse }: Narrowing, keys: Readonly<Record<string, NarrowKey>>): JsonObject {
  const wished = Object.entries(wish).map(([key, value]): [string, JsonValue] => {
    // Unknown keys are reported by the schema of the object.
    const narrow = getOwn(keys, key);
    return [key, narrow ? narrow(getOwn(own, key), value, (why) => refuse(key, why)) : value];
  });
  return { ...own, ...Object.fromEntries(wished) };
}

/** Narrows the configuration of a toolset. */
export function narrowKeys(own: JsonObject, wish: JsonObject, keys: Readonly<Record<string, NarrowKey>>): Narrowed {
  const refused: string[] = [];
  const config = narrowEach({ own, wish, refuse: (key, why) => refused.push(`\`${key}\`: ${why}`) }, keys);
  return refused.length === 0 ? { ok: true, config } : { ok: false, why: refused.join("; ") };
}

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
