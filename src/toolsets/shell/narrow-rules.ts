import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import type { Narrowed } from "../toolset.ts";
import { type EffectKeys, isLook } from "./effects.ts";

/**
 * Rules of a created worker: those of its creator, in their order. One can be left out where no later one lets through what it asks for
 * or blocks; the first matching rule decides. One that runs commands without a question can be made to ask.
 */
export function narrowRules(own: JsonObject, wish: JsonObject): Narrowed {
  if (Object.keys(wish).length === 0) return { ok: true, config: own };
  const known = listOf(own["rules"]);
  const wanted = listOf(wish["rules"]);
  const standard = wish["default"];
  const refused = (why: string): Narrowed => ({ ok: false, why: `${why}; to be had: ${describe(own)}` });
  if (standard !== undefined && !isAsStrict(own["default"], standard)) return refused("`default` is the creator's or none");
  const [looks, ownLooks] = [wish["looks"] === "allowed", own["looks"] === "allowed"];
  if (looks && !ownLooks) return refused("`looks: allowed` is the creator's alone");
  // Where looks are allowed, a rule with effects lets no look pass one without that asks for it.
  if (ownLooks && !looks && wanted.some((rule) => !isFree(rule)) && wanted.some(hasEffects))
    return refused("rules that ask need the creator's `looks: allowed`");
  let next = 0;
  const omitted: JsonValue[] = [];
  for (const rule of wanted) {
    const at = known.findIndex((one, index) => index >= next && covers(one, rule));
    if (at < 0) return refused(`no rule of the creator is \`${canonicalJson(rule)}\`, in its order`);
    omitted.push(...known.slice(next, at));
    if (omitted.some((one) => !isFree(one)) || (omitted.length > 0 && isRecord(rule) && rule["redirect_paths"] !== undefined))
      return refused(`\`${canonicalJson(rule)}\` stands behind rules that are stricter, which cannot be left out`);
    next = at + 1;
  }
  omitted.push(...known.slice(next));
  if (standard !== undefined && omitted.some((one) => !isFree(one)))
    return refused("`default` needs all rules that are stricter");
  return { ok: true, config: wish };
}

function listOf(rules: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(rules) ? rules : [];
}

/** The creator's own, or one that asks where the creator's does not. */
function isAsStrict(own: JsonValue | undefined, wish: JsonValue): boolean {
  return own !== undefined && covers(own, wish);
}

function hasEffects(rule: JsonValue): boolean {
  return isRecord(rule) && !isLook(rule as EffectKeys);
}

/** The same rule, or one that asks where the creator's does not. */
function covers(own: JsonValue, wish: JsonValue): boolean {
  if (!isRecord(own) || !isRecord(wish)) return false;
  const { approval_required: free, ...rest } = own;
  const { approval_required: wanted, ...other } = wish;
  const rank = (value: unknown) => [false, undefined, true].indexOf(value as boolean | undefined);
  return canonicalJson(rest as JsonObject) === canonicalJson(other as JsonObject) && rank(wanted) >= rank(free);
}

/** No other rule can be freer. */
function isFree(rule: JsonValue): boolean {
  if (!isRecord(rule) || rule["approval_required"] !== false || rule["blocked"] === true) return false;
  return ["deny_args", "approval_required_if_args"].every((key) => rule[key] === undefined);
}

function describe({ rules, default: standard, looks }: JsonObject): string {
  const shown = listOf(rules).map((rule) => `\`${canonicalJson(rule)}\``);
  const others = Object.entries({ default: standard, looks }).flatMap(([key, value]) => {
    return value === undefined ? [] : [`\`${key}: ${canonicalJson(value)}\``];
  });
  return [...shown, ...others].join(", ") || "none";
}
