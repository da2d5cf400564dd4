import type { ModelSettings } from "../../models/model.ts";
import { defaultTimeouts } from "../../models/patience.ts";
import { defaultTurns } from "../../program/program.ts";
import type { AttachmentPolicy } from "../../protocol/attachment-policy.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { ServerTool } from "../../protocol/tool.ts";
import { type LimitName, type Limits, limitNames } from "../../protocol/usage.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import { getOwn } from "../../util/get-own.ts";
import { attenuateScopes } from "./attenuate-scopes.ts";
import { attenuateToolset, type Narrow } from "./attenuate-toolset.ts";
import {
  type AttachmentWish,
  type Capability,
  offer,
  type Refusal,
  type Refuse,
  type ServerToolWish,
  type ToolsetCapability,
  type WorkerWish,
} from "./capability.ts";

/** The capability of a created worker, or all parts of the wish that its creator does not have. */
export type Attenuated =
  | { readonly ok: true; readonly capability: Capability }
  | { readonly ok: false; readonly refused: readonly Refusal[] };

/**
 * Makes the capability of a worker that another one creates: the only way to one. It has what the wish names and nothing else, and
 * bounds that the wish does not name are the creator's. A wish for more than the creator has is refused, with what may be had.
 * `narrow` compares configurations of toolsets. Pure.
 */
export function attenuate(creator: Capability, wish: WorkerWish, narrow: Narrow): Attenuated {
  const refused: Refusal[] = [];
  const refuse = (refusal: Refusal): undefined => void refused.push(refusal);
  const { paths, network_enabled: network = false, required = false } = wish.sandbox ?? {};
  if (network && !creator.network) refuse("`sandbox.network_enabled`: the creator's commands have no network; leave it out");
  const scopes = wish.sandbox ? attenuateScopes(creator.scopes, paths, refuse) : [];
  const capability: Capability = {
    models: attenuateModel(creator.models, wish.model, refuse),
    modelSettings: attenuateSettings(creator.modelSettings, wish.model_settings ?? {}, refuse),
    scopes,
    network: network && creator.network,
    isolationRequired: required || creator.isolationRequired,
    attachments: attenuateAttachments(creator.attachments, wish.attachment_policy, refuse),
    serverTools: (wish.server_side_tools ?? []).flatMap((one) => attenuateServerTool(creator.serverTools, one, refuse) ?? []),
    limits: attenuateLimits(creator.limits, wish.limits ?? {}, refuse),
    toolsets: attenuateToolsets(creator.toolsets, wish, { narrow, refuse, scopes: scopes.map(({ name }) => name) }),
  };
  return refused.length === 0 ? { ok: true, capability } : { ok: false, refused };
}

function attenuateModel(models: readonly string[], wish: string | undefined, refuse: Refuse): readonly string[] {
  if (wish === undefined || models.includes(wish)) return wish === undefined ? models.slice(0, 1) : [wish];
  refuse(`\`model\`: \`${wish}\` is not a model of the creator; ${offer(models)}`);
  return [];
}

const reasoning = ["none", "minimal", "low", "medium", "high"];
/** Bounds of requests, with the default where there is one. */
const bounds = {
  max_output_tokens: Number.POSITIVE_INFINITY,
  max_retries: 4,
  max_retry_wait: 120,
  timeout: 1800,
  ...defaultTimeouts,
} satisfies ModelSettings;

/** Those that `timeout` stands for. */
const isSilence = (name: string) => name === "first_byte_timeout" || name === "idle_timeout";

function attenuateSettings(own: ModelSettings, wish: ModelSettings, refuse: Refuse): ModelSettings {
  const { provider_options: options, ...settings } = wish;
  const inherited: Record<string, number> = {};
  for (const [name, standard] of Object.entries(bounds) as [keyof typeof bounds, number][]) {
    const most = own[name] ?? (isSilence(name) ? own.timeout : undefined) ?? standard;
    const wanted = settings[name];
    if (wanted === undefined && own[name] !== undefined) inherited[name] = most;
    if (wanted !== undefined && wanted > most) refuse(`\`model_settings.${name}\`: ${wanted} is too much; at most ${most}`);
  }
  const { reasoning: most = own.provider_options ? undefined : "high" } = own;
  if (settings.reasoning && reasoning.indexOf(settings.reasoning) > reasoning.indexOf(most ?? "none"))
    refuse(`\`model_settings.reasoning\`: \`${settings.reasoning}\` is too much; at most \`${most ?? "none"}\``);
  reportOptions(own.provider_options ?? {}, options ?? {}, refuse);
  const kept = {
    ...(own.reasoning === undefined ? {} : { reasoning: own.reasoning }),
    ...(own.provider_options ? { provider_options: own.provider_options } : {}),
  };
  return { ...inherited, ...kept, ...settings };
}

/** Options of a provider can turn tools on, and can be bounds, such as `store: false`: the creator's, all of them. */
function reportOptions(own: JsonObject, wish: JsonObject, refuse: Refuse): void {
  for (const [provider, wanted] of Object.entries(wish)) {
    const known = getOwn(own, provider) as JsonObject | undefined;
    for (const [key, value] of Object.entries(wanted as JsonObject)) {
      const given = known && getOwn(known, key);
      if (given !== undefined && canonicalJson(given) === canonicalJson(value)) continue;
      const had = given === undefined ? "the creator does not set it; leave it out" : `to be had: \`${canonicalJson(given)}\``;
      refuse(`\`model_settings.provider_options.${provider}.${key}\`: ${had}`);
    }
  }
}

function attenuateLimits(own: Limits, wish: Limits, refuse: Refuse): Limits {
  const limits: Partial<Record<LimitName, number>> = {};
  for (const name of limitNames) {
    const most = own[name] ?? (name === "turns" ? defaultTurns : Number.POSITIVE_INFINITY);
    const wanted = wish[name];
    if (wanted !== undefined && wanted > most) refuse(`\`limits.${name}\`: ${wanted} is too much; at most ${most}`);
    const limit = wanted ?? own[name];
    if (limit !== undefined) limits[name] = limit;
  }
  return limits;
}

function attenuateAttachments(own: AttachmentPolicy, wish: AttachmentWish | undefined, refuse: Refuse): AttachmentPolicy {
  if (!wish) return { ...own, maxAttachments: 0 };
  const atMost = (key: "max_attachments" | "max_total_bytes", most: number): number => {
    const wanted = wish[key] ?? most;
    if (wanted > most) refuse(`\`attachment_policy.${key}\`: ${wanted} is too much; at most ${most}`);
    return wanted;
  };
  const among = (key: "allowed_suffixes" | "media_types", known: readonly string[]): readonly string[] => {
    const wanted = wish[key] ?? known;
    const more = known.length === 0 ? [] : wanted.filter((one) => !known.includes(one));
    // An empty list stands for all.
    if (more.length > 0 || (known.length > 0 && wanted.length === 0)) refuse(`\`attachment_policy.${key}\`: ${offer(known)}`);
    return wanted;
  };
  return {
    maxAttachments: atMost("max_attachments", own.maxAttachments),
    maxTotalBytes: atMost("max_total_bytes", own.maxTotalBytes),
    allowedSuffixes: among("allowed_suffixes", own.allowedSuffixes),
    deniedSuffixes: [...new Set([...own.deniedSuffixes, ...(wish.denied_suffixes ?? [])])],
    mediaTypes: among("media_types", own.mediaTypes),
  };
}

function attenuateServerTool(own: readonly ServerTool[], wish: ServerToolWish, refuse: Refuse): ServerTool | undefined {
  const { tool_type: type, max_uses: uses, allowed_domains: allowed, blocked_domains: blocked } = wish;
  const label = `\`server_side_tools\`: \`${type}\``;
  const known = own.find((one) => one.type === type);
  if (!known) return refuse(`${label} is not the creator's; ${offer(own.map((one) => one.type))}`);
  const most = known.max_uses;
  if (most !== undefined && uses !== undefined && uses > most) return refuse(`${label}: \`max_uses\` is at most ${most}`);
  const hosts = known.allowed_domains;
  if (hosts && (blocked || allowed?.some((host) => !hosts.includes(host))))
    return refuse(`${label}: only on hosts of the creator; ${offer(hosts)} as \`allowed_domains\``);
  if (known.blocked_domains && allowed)
    return refuse(`${label}: the creator has \`blocked_domains\`, which \`allowed_domains\` would lift; leave these out`);
  const kept = allowed ?? hosts;
  const avoided = kept ? [] : [...new Set([...(known.blocked_domains ?? []), ...(blocked ?? [])])];
  const limit = uses ?? most;
  return {
    type,
    ...(limit === undefined ? {} : { max_uses: limit }),
    ...(kept ? { allowed_domains: kept } : {}),
    ...(avoided.length > 0 ? { blocked_domains: avoided } : {}),
  };
}

function attenuateToolsets(
  own: Capability["toolsets"],
  { toolsets = {} }: WorkerWish,
  { refuse, ...context }: { readonly narrow: Narrow; readonly refuse: Refuse; readonly scopes: readonly string[] },
): Capability["toolsets"] {
  const kept: [string, ToolsetCapability][] = [];
  for (const [reference, wish] of Object.entries(toolsets)) {
    const known = getOwn(own, reference);
    if (!known) refuse(`\`toolsets\`: \`${reference}\` is not the creator's; ${offer(Object.keys(own))}`);
    else kept.push([reference, attenuateToolset(reference, { own: known, wish, refuse, ...context })]);
  }
  return Object.fromEntries(kept);
}

/**
 * A wish with defaults for what it does not name: the author's words for all created workers, as far as the creator has them. A default
 * that goes beyond the creator is left out, or becomes the creator's bound.
 */
export function withDefaults(creator: Capability, wish: WorkerWish, defaults: WorkerWish, narrow: Narrow): WorkerWish {
  const fits = (part: WorkerWish) => attenuate(creator, part, narrow).ok;
  const { model, sandbox, toolsets = {}, limits = {} } = defaults;
  const { paths } = sandbox ?? {};
  const open = paths && keepEntries(paths, (name, scope) => fits({ sandbox: { paths: { [name]: scope } } }));
  const folders = sandbox && { ...sandbox, ...(open ? { paths: open } : {}) };
  const reached = wish.sandbox ?? (folders && fits({ sandbox: folders }) ? folders : undefined);
  const inFolders = reached ? { sandbox: reached } : {};
  const kept = keepEntries(toolsets, (reference, toolset) => fits({ ...inFolders, toolsets: { [reference]: toolset } }));
  const bounded: Limits = { turns: defaultTurns, ...creator.limits };
  const clamped = Object.entries(limits).map(([name, limit]) => [name, Math.min(limit, bounded[name as LimitName] ?? limit)]);
  return {
    ...(model === undefined ? {} : { model }),
    ...inFolders,
    ...(Object.keys(kept).length > 0 ? { toolsets: kept } : {}),
    ...wish,
    limits: { ...Object.fromEntries(clamped), ...wish.limits },
  };
}

function keepEntries<T>(entries: Readonly<Record<string, T>>, keep: (name: string, value: T) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(entries).filter(([name, value]) => keep(name, value)));
}
