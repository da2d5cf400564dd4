import { defaultTimeouts } from "../../models/patience.ts";
import { defaultAttachmentPolicy, defaultTurns } from "../../program/program.ts";
import { isRecord, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import { limitNames } from "../../protocol/usage.ts";
import { among, atMost, type NarrowKey, narrowEach } from "../../toolsets/narrow-lists.ts";
import type { Narrowed } from "../../toolsets/toolset.ts";
import { getOwn } from "../../util/get-own.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import { narrowScopes } from "./narrow-scopes.ts";
import { approvalsOf, configOf, offer, type Powers, type Refuse, withApprovals } from "./powers.ts";

/** Narrows the configuration of a creator's toolset, by its reference. `scopes`: those of the created worker. */
export type NarrowToolset = (
  reference: string,
  configs: { readonly own: JsonObject; readonly wish: JsonObject; readonly scopes: readonly string[] },
) => Narrowed;

export interface PowersContext {
  /** Models that the created worker may name. */
  readonly models: readonly string[];
  readonly narrow: NarrowToolset;
}

export interface NarrowedPowers {
  readonly powers: Powers;
  /** Empty: the powers are no more than the creator's. */
  readonly refused: readonly string[];
}

/**
 * Makes the powers of a worker that another one creates: the only way to them. It has what the wish names and nothing else, and bounds
 * that the wish does not name are the creator's. Each part of the wish that the creator does not have is refused. Pure.
 */
export function narrowPowers(own: Powers, wish: Powers, { models, narrow }: PowersContext): NarrowedPowers {
  const refused: string[] = [];
  const refuse: Refuse = (refusal) => void refused.push(refusal);
  const { sandbox = {}, model_settings: settings = {} } = own;
  const files = { max_attachments: 0, ...own.attachment_policy };
  const within = (
    key: BoundedKey,
    keys: Readonly<Record<string, NarrowKey>>,
    standard: JsonObject = own[key] ?? {},
  ): JsonObject => narrowKnown({ label: key, own: standard, wish: wish[key] ?? {}, refuse }, keys);
  const hasNetwork = wish.sandbox?.network_enabled === true;
  if (hasNetwork && !sandbox.network_enabled)
    refuse("`sandbox.network_enabled`: the creator's commands have no network; leave it out");
  const paths = wish.sandbox ? narrowScopes(sandbox.paths ?? {}, wish.sandbox.paths ?? { ".": {} }, refuse) : {};
  if (wish.model !== undefined && !models.includes(wish.model))
    refuse(`\`model\`: \`${wish.model}\` is not a model of the creator; ${offer(models)}`);
  const keys = settingKeys(settings);
  const bounds = Object.fromEntries(Object.entries(settings).filter(([name]) => keys[name] !== free));
  return {
    powers: {
      model: wish.model ?? own.model,
      model_settings: within("model_settings", keys, bounds),
      attachment_policy: wish.attachment_policy
        ? within("attachment_policy", attachmentKeys, files)
        : { ...files, max_attachments: 0 },
      sandbox: {
        paths,
        network_enabled: hasNetwork,
        required: (wish.sandbox?.required || sandbox.required) === true,
      },
      server_side_tools: (wish.server_side_tools ?? []).flatMap((tool) => narrowTool(own.server_side_tools ?? [], tool, refuse)),
      limits: within("limits", limitKeys),
      toolsets: narrowToolsets(own.toolsets ?? {}, wish.toolsets ?? {}, { narrow, refuse, scopes: Object.keys(paths) }),
    },
    refused,
  };
}

type BoundedKey = "model_settings" | "attachment_policy" | "limits";

interface Bounded {
  readonly label: string;
  readonly own: JsonObject;
  readonly wish: JsonObject;
  readonly refuse: Refuse;
}

/** Refuses keys without a row. */
function narrowKnown({ label, own, wish, refuse }: Bounded, keys: Readonly<Record<string, NarrowKey>>): JsonObject {
  for (const name of Object.keys(wish)) if (!getOwn(keys, name)) refuse(`\`${label}.${name}\`: leave it out`);
  return narrowEach({ own, wish, refuse: (name, why) => refuse(`\`${label}.${name}\`: ${why}`) }, keys);
}

const limitKeys = Object.fromEntries(limitNames.map((name) => [name, atMost(name === "turns" ? defaultTurns : undefined)]));

const union: NarrowKey = (own, wish) => [
  ...new Set([...((own as readonly JsonValue[]) ?? []), ...(wish as readonly JsonValue[])]),
];

const attachmentKeys = {
  max_attachments: atMost(),
  max_total_bytes: atMost(defaultAttachmentPolicy.maxTotalBytes),
  allowed_suffixes: among("all"),
  denied_suffixes: union,
  media_types: among("all"),
};

/** A setting that is no bound: it is never the creator's. */
const free: NarrowKey = (_own, wish) => wish;

function settingKeys({ timeout, provider_options: options }: JsonObject): Readonly<Record<string, NarrowKey>> {
  const silence = typeof timeout === "number" ? timeout : undefined;
  return {
    ...{ temperature: free, top_p: free, seed: free },
    max_output_tokens: atMost(),
    max_retries: atMost(4),
    max_retry_wait: atMost(120),
    timeout: atMost(1800),
    connect_timeout: atMost(defaultTimeouts.connect_timeout),
    first_byte_timeout: atMost(silence ?? defaultTimeouts.first_byte_timeout),
    idle_timeout: atMost(silence ?? defaultTimeouts.idle_timeout),
    // Options of a provider can set the same.
    reasoning: narrowReasoning(options ? "none" : "high"),
    provider_options: narrowOptions,
  };
}

const reasoning: readonly unknown[] = ["none", "minimal", "low", "medium", "high"];

function narrowReasoning(standard: string): NarrowKey {
  return (most = standard, wish, refuse) => {
    if (reasoning.indexOf(wish) > reasoning.indexOf(most)) refuse(`\`${String(wish)}\` is too much; at most \`${String(most)}\``);
    return wish;
  };
}

/** Options of a provider can turn tools on, and can be bounds, such as `store: false`: the creator's, all of them. */
const narrowOptions: NarrowKey = (own = {}, wish, refuse) => {
  for (const [provider, wanted] of Object.entries(wish as JsonObject)) {
    const known = getOwn(own as JsonObject, provider);
    for (const [key, value] of Object.entries(wanted as JsonObject)) {
      const given = isRecord(known) ? getOwn(known as JsonObject, key) : undefined;
      if (given !== undefined && canonicalJson(given) === canonicalJson(value)) continue;
      const had = given === undefined ? "the creator does not set it; leave it out" : `to be had: \`${canonicalJson(given)}\``;
      refuse(`\`${provider}.${key}\`: ${had}`);
    }
  }
  return own;
};

function narrowTool(own: readonly JsonObject[], wish: JsonObject, refuse: Refuse): JsonObject[] {
  const type = wish["tool_type"];
  const label = `server_side_tools: ${String(type)}`;
  const known = own.find((one) => one["tool_type"] === type);
  if (!known) {
    refuse(
      `\`server_side_tools\`: \`${String(type)}\` is not the creator's; ${offer(own.map((one) => String(one["tool_type"])))}`,
    );
    return [];
  }
  const { allowed_domains: hosts, blocked_domains: avoided } = known;
  const keys: Readonly<Record<string, NarrowKey>> = {
    tool_type: free,
    max_uses: atMost(),
    allowed_domains: (_own, wanted, report) => {
      if (avoided) report("the creator has `blocked_domains`, which it would lift; leave it out");
      return among("none")(hosts, wanted, report);
    },
    blocked_domains: (_own, wanted, report) => {
      if (hosts) report(`only on hosts of the creator; ${offer((hosts as readonly string[]) ?? [])} as \`allowed_domains\``);
      return union(avoided, wanted, report);
    },
  };
  return [narrowKnown({ label, own: known, wish, refuse }, keys)];
}

/** The creator's toolsets, with configurations that let no more through. */
function narrowToolsets(
  own: NonNullable<Powers["toolsets"]>,
  wish: typeof own,
  { narrow, refuse, scopes }: { readonly narrow: NarrowToolset; readonly refuse: Refuse; readonly scopes: readonly string[] },
): typeof own {
  const kept = Object.entries(wish).flatMap(([reference, wanted]): [string, JsonObject][] => {
    const known = getOwn(own, reference);
    if (!known) {
      refuse(`\`toolsets\`: \`${reference}\` is not the creator's; ${offer(Object.keys(own))}`);
      return [];
    }
    const narrowed = narrow(reference, { own: configOf(known), wish: configOf(wanted), scopes });
    if (!narrowed.ok) refuse(`\`toolsets.${reference}\`: ${narrowed.why}`);
    const approvals = narrowApprovals(approvalsOf(known), approvalsOf(wanted), (why) =>
      refuse(`\`toolsets.${reference}._approval_config\`: ${why}`),
    );
    return [[reference, withApprovals(narrowed.ok ? narrowed.config : known, approvals)]];
  });
  return Object.fromEntries(kept);
}

type Approvals = ReturnType<typeof approvalsOf>;

/** Only what the creator pre-approves can be pre-approved. Keeps asking for what its author makes ask: code may pre-approve its tools itself. */
function narrowApprovals(own: Approvals, wish: Approvals, refuse: Refuse): Approvals {
  const free = Object.keys(own).filter((tool) => own[tool]);
  const wanted = Object.entries(wish).filter(([tool, preApproved]) => {
    if (!preApproved || (getOwn(own, tool) ?? own["*"]) === true) return true;
    refuse(`the creator's calls of \`${tool}\` are not pre-approved; ${free.length === 0 ? "leave it out" : offer(free)}`);
    return false;
  });
  const asking = Object.entries(own).filter(([, preApproved]) => !preApproved);
  return Object.fromEntries([...asking, ...wanted]);
}

/**
 * A wish with defaults for what it does not name: the author's words for all created workers, as far as the creator has them. A default
 * that goes beyond the creator is left out, or becomes the creator's bound.
 */
export function withDefaults(
  own: Powers,
  wish: Powers,
  { defaults, ...context }: PowersContext & { readonly defaults: Powers },
): Powers {
  const fits = (part: Powers) => narrowPowers(own, part, context).refused.length === 0;
  const { model, sandbox, toolsets = {}, limits = {} } = defaults;
  const open = keepEntries(sandbox?.paths ?? {}, (name, scope) => fits({ sandbox: { paths: { [name]: scope } } }));
  const folders = sandbox && { ...sandbox, ...(sandbox.paths ? { paths: open } : {}) };
  const reached = wish.sandbox ?? (folders && fits({ sandbox: folders }) ? folders : undefined);
  const kept = keepEntries(toolsets, (reference, entry) => fits({ sandbox: reached, toolsets: { [reference]: entry } }));
  const bounds: JsonObject = { turns: defaultTurns, ...own.limits };
  const clamped = Object.entries(limits).map(([name, limit]) => [name, Math.min(Number(limit), Number(bounds[name] ?? limit))]);
  return {
    ...wish,
    model: wish.model ?? model,
    sandbox: reached,
    toolsets: wish.toolsets ?? kept,
    limits: { ...Object.fromEntries(clamped), ...wish.limits },
  };
}

function keepEntries<T>(entries: Readonly<Record<string, T>>, keep: (name: string, value: T) => boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(entries).filter(([name, value]) => keep(name, value)));
}
