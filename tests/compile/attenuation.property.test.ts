import { describe, expect, test } from "vitest";
import { judge } from "../../src/approval/verdict.ts";
import { attenuate, withDefaults } from "../../src/compile/create/attenuate.ts";
import type { Narrow } from "../../src/compile/create/attenuate-toolset.ts";
import type { Capability, ScopeWish, ToolsetWish, WorkerWish } from "../../src/compile/create/capability.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import type { OutlinedScope } from "../../src/protocol/outline.ts";
import { allowedWorkers, delegation } from "../../src/toolsets/delegation.ts";
import { filesystem } from "../../src/toolsets/filesystem/filesystem.ts";
import type { ShellRule } from "../../src/toolsets/shell/config.ts";
import { narrowRules } from "../../src/toolsets/shell/narrow-rules.ts";
import { coversCommand, parsePattern } from "../../src/toolsets/shell/patterns.ts";
import type { OwnVerdict } from "../../src/toolsets/toolset.ts";
import { matchesFlatGlob } from "../../src/util/flat-glob.ts";

/*
 * Random creators and wishes. What comes out is compared with its creator by what single calls may do, and never by the functions that
 * attenuate: a path that is read or written, a command, a call of a worker or a tool, an attachment, a host.
 */

const pairs = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 1000);
const chains = Number(process.env["LLM_DO_FUZZ_RUNS"] ?? 200) / (process.env["LLM_DO_FUZZ_RUNS"] ? 5 : 1);

/** Mulberry32. */
class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  below(count: number): number {
    return Math.floor(this.next() * count);
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  some<T>(list: readonly T[], share = 0.5): T[] {
    return list.filter(() => this.chance(share));
  }

  /** A member with this share; otherwise none. */
  maybe<T extends object>(share: number, make: () => T): T | Record<string, never> {
    return this.chance(share) ? make() : {};
  }
}

const folders = { docs: "docs", inner: "docs/inner", deep: "docs/inner/deep", out: "out", away: "/away" } as const;
const suffixes = [".md", ".txt", ".pdf"];
const tools: Readonly<Record<string, readonly string[]>> = {
  filesystem: ["read_file", "write_file"],
  shell: ["shell"],
  delegation: ["worker_call"],
  db: ["query", "execute"],
};
const rules: readonly ShellRule[] = [
  { pattern: "git log", approval_required: false },
  { pattern: "git push", approval_required: true },
  { pattern: "git", approval_required: false, deny_args: ["--force"] },
  { pattern: "git *" },
  { pattern: "npm *", approval_required_if_args: ["publish"], approval_required: false },
  { pattern: "cat", approval_required: false, redirect_paths: ["out/*"] },
  { pattern: "*" },
];
const workers = ["a", "b", "review_x", "review_y"];

function randomScope(random: Random, name: keyof typeof folders): OutlinedScope {
  const mode = random.one(["ro", "rw"] as const);
  const writeApproval = random.chance(0.7);
  return {
    ...{ name, root: folders[name], mode, outside: name === "away", writeApproval, readApproval: random.chance(0.2) },
    ...random.maybe(0.3, () => ({ suffixes: [random.one(suffixes), ".md"] })),
    ...random.maybe(0.3, () => ({ maxFileBytes: random.one([10, 1000]) })),
    ...(writeApproval && mode === "rw" && random.chance(0.3) ? { writesAlwaysAsk: true as const } : {}),
  };
}

function randomApprovals(random: Random, reference: string): Record<string, boolean> {
  return Object.fromEntries(random.some([...(tools[reference] ?? []), "*"], 0.4).map((tool) => [tool, random.chance(0.6)]));
}

function randomConfig(random: Random, reference: string): JsonObject {
  if (reference === "filesystem")
    return {
      ...random.maybe(0.3, () => ({ scopes: random.some(Object.keys(folders)) })),
      ...random.maybe(0.3, () => ({ max_chars: random.one([10, 500, 90_000]) })),
    };
  if (reference === "shell") {
    const standard = random.maybe(0.3, () => ({ default: { approval_required: random.chance(0.7) } }));
    return { rules: random.some(rules).map((rule) => ({ ...rule })), ...standard } as unknown as JsonObject;
  }
  if (reference === "delegation")
    return {
      allow_workers: random.some([...workers, "review_*"]),
      ...random.maybe(0.2, () => ({ lock_worker: random.one(workers) })),
      ...random.maybe(0.3, () => ({ max_attachments: random.below(4) })),
      ...random.maybe(0.3, () => ({ allowed_suffixes: random.some(suffixes, 0.7) })),
    };
  return { url: random.one(["one", "two"]) };
}

function randomCapability(random: Random): Capability {
  const references = random.some(Object.keys(tools), 0.7);
  return {
    models: random.some(["p:one", "p:two"], 0.8),
    modelSettings: {
      ...random.maybe(0.4, () => ({ max_output_tokens: random.one([10, 100]) })),
      ...random.maybe(0.3, () => ({ reasoning: random.one(["none", "low", "high"] as const) })),
      ...random.maybe(0.3, () => ({ provider_options: { p: { store: true, ...random.maybe(0.5, () => ({ tier: "fast" })) } } })),
    },
    scopes: random.chance(0.2)
      ? [{ name: ".", root: ".", mode: "rw", outside: false, writeApproval: true, readApproval: false }]
      : random.some(Object.keys(folders) as (keyof typeof folders)[]).map((name) => randomScope(random, name)),
    network: random.chance(0.4),
    isolationRequired: random.chance(0.3),
    attachments: {
      maxAttachments: random.below(4),
      maxTotalBytes: random.one([10, 1000]),
      allowedSuffixes: random.chance(0.5) ? random.some(suffixes) : [],
      deniedSuffixes: random.some(suffixes, 0.2),
      mediaTypes: random.chance(0.3) ? ["image/*"] : [],
    },
    serverTools: random.some(["web_search", "web_fetch"] as const).map((type) => ({
      type,
      ...random.maybe(0.5, () => ({ max_uses: random.one([1, 5]) })),
      ...(random.chance(0.5)
        ? { allowed_domains: ["a.org", "b.org"] }
        : random.maybe(0.5, () => ({ blocked_domains: ["c.org"] }))),
    })),
    limits: {
      ...random.maybe(0.4, () => ({ turns: random.one([5, 60]) })),
      ...random.maybe(0.4, () => ({ usd: random.one([0.1, 2]) })),
      ...random.maybe(0.3, () => ({ depth: random.below(4) })),
    },
    toolsets: Object.fromEntries(
      references.map((one) => [one, { config: randomConfig(random, one), approvals: randomApprovals(random, one) }]),
    ),
  };
}

/** The creator's own, with parts left out and, often, one or the other part of another worker. */
function randomWish(random: Random, creator: Capability): WorkerWish {
  const other = random.chance(0.5) ? randomCapability(random) : creator;
  const source = () => (random.chance(0.15) ? other : creator);
  const { scopes } = source();
  const paths = Object.fromEntries(
    random.some(scopes, 0.7).flatMap((scope) => (scope.name === "." ? [] : [[scope.name, scopeWish(random, scope)]])),
  );
  const isDefault = scopes.some(({ name }) => name === ".");
  const named = random.some(Object.entries(source().toolsets), 0.7).map(([reference, own]): [string, ToolsetWish] => [
    reference,
    {
      config: random.chance(0.3) ? {} : random.chance(0.7) ? narrowed(random, own.config) : randomConfig(random, reference),
      ...random.maybe(0.4, () => ({ approvals: random.chance(0.6) ? own.approvals : randomApprovals(random, reference) })),
    },
  ]);
  const { attachments, serverTools, limits, modelSettings, models, network } = source();
  const [model] = models;
  return {
    ...(model !== undefined && random.chance(0.5) ? { model } : {}),
    ...random.maybe(0.5, () => ({ model_settings: modelSettings })),
    ...random.maybe(0.8, () => ({
      sandbox: { ...(isDefault ? {} : { paths }), ...(network && random.chance(0.5) ? { network_enabled: true } : {}) },
    })),
    ...random.maybe(0.8, () => ({ toolsets: Object.fromEntries(named) })),
    ...random.maybe(0.4, () => ({
      server_side_tools: serverTools.map(({ type, ...bounds }) => ({ tool_type: type, ...(random.chance(0.5) ? bounds : {}) })),
    })),
    ...random.maybe(0.4, () => ({
      attachment_policy: {
        max_attachments: attachments.maxAttachments,
        ...(attachments.allowedSuffixes.length > 0 ? { allowed_suffixes: attachments.allowedSuffixes.slice(0, 1) } : {}),
        denied_suffixes: random.some(suffixes, 0.2),
      },
    })),
    ...random.maybe(0.5, () => ({ limits: random.chance(0.7) ? limits : { ...limits, turns: random.one([1, 30, 70]) } })),
  };
}

function scopeWish(random: Random, { mode, suffixes: own, maxFileBytes, writeApproval }: OutlinedScope): ScopeWish {
  return {
    ...random.maybe(0.5, () => ({ mode: random.chance(0.8) ? mode : "ro" })),
    ...(own ? random.maybe(0.5, () => ({ suffixes: own.slice(0, 1) })) : random.maybe(0.2, () => ({ suffixes: [".md"] }))),
    ...random.maybe(0.3, () => ({ max_file_bytes: random.one([5, maxFileBytes ?? 2000]) })),
    ...random.maybe(0.2, () => ({ write_approval: random.chance(0.7) || writeApproval })),
    ...random.maybe(0.1, () => ({ read_approval: random.chance(0.7) })),
  };
}

function narrowed(random: Random, config: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, Array.isArray(value) ? random.some(value, 0.8) : value]),
  ) as JsonObject;
}

const narrow: Narrow = (reference, { own, wish, scopes }) => {
  if (reference === "filesystem" && filesystem.narrow) return filesystem.narrow(own, wish, scopes);
  if (reference === "shell") return narrowRules(own, wish);
  if (reference === "delegation" && delegation.narrow) return delegation.narrow(own, wish, scopes);
  const isOwn = Object.keys(wish).length === 0 || JSON.stringify(wish) === JSON.stringify(own);
  return isOwn ? { ok: true, config: own } : { ok: false, why: "to be had: `{}`" };
};

const known = new WeakMap<Capability, ReadonlyMap<string, number>>();
const patterns = new Map(rules.map(({ pattern }) => [pattern, parsePattern(pattern)]));

function freedomsOf(capability: Capability): ReadonlyMap<string, number> {
  const found = known.get(capability) ?? freedoms(capability);
  known.set(capability, found);
  return found;
}

/** Every call that is tried, with how freely it runs: 0 not at all, 1 always after a question, 2 unless it is pre-approved, 3 freely. */
function freedoms(capability: Capability): Map<string, number> {
  return new Map(tried.map(([name, freedomOf]) => [name, freedomOf(capability)]));
}

type Tried = readonly [name: string, freedom: (capability: Capability) => number];

function isFree(isOpen: (capability: Capability) => boolean): Tried[1] {
  return (capability) => (isOpen(capability) ? 3 : 0);
}

interface Access {
  readonly folder: string;
  readonly suffix: string;
  readonly bytes: number;
  readonly access: "read" | "write";
}

const isIn = (folder: string, root: string) =>
  root === "." ? !folder.startsWith("/") : folder === root || folder.startsWith(`${root}/`);

function accessOf({ scopes }: Capability, { folder, suffix, bytes, access }: Access): number {
  const [scope] = scopes.filter(({ root }) => isIn(folder, root)).sort((a, b) => b.root.length - a.root.length);
  if (!scope || (scope.suffixes && !scope.suffixes.includes(suffix)) || bytes > (scope.maxFileBytes ?? 1e9)) return 0;
  if (access === "read") return scope.readApproval ? 1 : 3;
  if (scope.mode === "ro") return 0;
  return scope.writesAlwaysAsk ? 1 : scope.writeApproval ? 2 : 3;
}

interface Command {
  readonly words: readonly string[];
  readonly redirect?: string;
}

const commands: readonly Command[] = [
  ...["git log", "git push", "git push --force", "git status", "npm test", "npm publish", "rm x"].map((line) => ({
    words: line.split(" "),
  })),
  { words: ["cat", "x"], redirect: "out/y" },
  { words: ["git", "log"], redirect: "out/y" },
];

function commandOf({ toolsets }: Capability, { words, redirect }: Command): number {
  const { shell } = toolsets;
  if (!shell) return 0;
  const argv = words.map((value) => ({ kind: "static" as const, value, head: value, print: value }));
  const rule = ((shell.config["rules"] ?? []) as unknown as ShellRule[]).find(({ pattern }) =>
    coversCommand(patterns.get(pattern) ?? parsePattern(pattern), argv),
  );
  const standard = shell.config["default"] as { readonly approval_required: boolean } | undefined;
  const has = (globs: readonly string[] = []) => words.some((word) => globs.some((glob) => matchesFlatGlob(glob, word)));
  if (!rule) return standard ? (standard.approval_required || redirect ? 1 : 3) : 0;
  if (has(rule.deny_args)) return 0;
  if (has(rule.approval_required_if_args) || (redirect !== undefined && !rule.redirect_paths)) return 1;
  return rule.approval_required === true ? 1 : rule.approval_required === undefined ? 2 : 3;
}

const verdicts: readonly (OwnVerdict | undefined)[] = [
  undefined,
  { type: "pre-approved" },
  { type: "needs-approval", by: "default" },
  { type: "needs-approval", by: "rule" },
];

function toolOf(
  { toolsets }: Capability,
  {
    reference,
    tool,
    verdict: own,
  }: { readonly reference: string; readonly tool: string; readonly verdict: OwnVerdict | undefined },
): number {
  const found = toolsets[reference];
  if (!found) return 0;
  const { type } = judge({ own, preApproved: found.approvals[tool] ?? found.approvals["*"] });
  return type === "allowed" ? 3 : type === "ask" ? 1 : 0;
}

function callOf({ toolsets }: Capability, worker: string): number {
  const globs = allowedWorkers(toolsets["delegation"]?.config ?? {});
  return globs.some((glob) => matchesFlatGlob(glob, worker)) ? 3 : 0;
}

function attachOf({ attachments }: Capability, { suffix, count }: { readonly suffix: string; readonly count: number }): number {
  const { maxAttachments, allowedSuffixes, deniedSuffixes } = attachments;
  if (count > maxAttachments || deniedSuffixes.includes(suffix)) return 0;
  return allowedSuffixes.length === 0 || allowedSuffixes.includes(suffix) ? 3 : 0;
}

function visitOf(
  { serverTools }: Capability,
  { type, host, uses }: { readonly type: string; readonly host: string; readonly uses: number },
): number {
  const tool = serverTools.find((one) => one.type === type);
  if (!tool || uses > (tool.max_uses ?? 1e9) || tool.blocked_domains?.includes(host)) return 0;
  return tool.allowed_domains && !tool.allowed_domains.includes(host) ? 0 : 3;
}

const optionOf = ({ modelSettings }: Capability, name: string) =>
  (modelSettings.provider_options?.["p"] as JsonObject | undefined)?.[name];
const bounds = { turns: 50, usd: 1e9, depth: 1e9 } as const;
const boundNames = Object.keys(bounds) as (keyof typeof bounds)[];

const tried: readonly Tried[] = [
  ...[".", ...Object.values(folders)].flatMap((folder) =>
    suffixes.flatMap((suffix) =>
      [5, 500, 5000].flatMap((bytes) =>
        (["read", "write"] as const).map(
          (access): Tried => [
            `${access} ${folder}/x${suffix} ${bytes}`,
            (capability) => accessOf(capability, { folder, suffix, bytes, access }),
          ],
        ),
      ),
    ),
  ),
  ...commands.map((command): Tried => [JSON.stringify(command), (capability) => commandOf(capability, command)]),
  ...Object.entries(tools).flatMap(([reference, own]) =>
    own.flatMap((tool) =>
      verdicts.map(
        (verdict): Tried => [
          `${reference}/${tool} ${JSON.stringify(verdict)}`,
          (capability) => toolOf(capability, { reference, tool, verdict }),
        ],
      ),
    ),
  ),
  ...[...workers, "review_z"].map((worker): Tried => [`call ${worker}`, (capability) => callOf(capability, worker)]),
  ...suffixes.flatMap((suffix) =>
    [1, 2, 3].map((count): Tried => [`attach ${count} ${suffix}`, (capability) => attachOf(capability, { suffix, count })]),
  ),
  ...["web_search", "web_fetch"].flatMap((type) =>
    ["a.org", "c.org", "d.org"].flatMap((host) =>
      [1, 3, 9].map((uses): Tried => [`${type} ${host} ${uses}`, (capability) => visitOf(capability, { type, host, uses })]),
    ),
  ),
  ["network", isFree(({ network }) => network)],
  ["not isolated", isFree(({ isolationRequired }) => !isolationRequired)],
  ...["p:one", "p:two"].map((model): Tried => [model, isFree(({ models }) => models.includes(model))]),
  ["option store", isFree((capability) => optionOf(capability, "store") === true)],
  ["option tier", isFree((capability) => optionOf(capability, "tier") === "fast")],
  ...boundNames.flatMap((name) =>
    [0.05, 1, 3, 20, 55, 80].map(
      (amount): Tried => [`${name} ${amount}`, isFree(({ limits }) => amount <= (limits[name] ?? bounds[name]))],
    ),
  ),
  ...[50, 5000].map(
    (amount): Tried => [`answer ${amount}`, isFree(({ modelSettings }) => amount <= (modelSettings.max_output_tokens ?? 1e9))],
  ),
];

function widerCalls(creator: Capability, created: Capability): string[] {
  const own = freedomsOf(creator);
  return [...freedomsOf(created)].flatMap(([call, freedom]) => (freedom > (own.get(call) ?? 0) ? [`${call}: ${freedom}`] : []));
}

describe("a created worker", () => {
  test(`never has more than its creator: ${pairs} pairs`, () => {
    let created = 0;
    for (let seed = 0; seed < pairs; seed++) {
      const random = new Random(seed);
      const creator = randomCapability(random);
      const wish = randomWish(random, creator);
      const made = attenuate(creator, wish, narrow);
      if (made.ok) {
        created++;
        expect({ seed, wider: widerCalls(creator, made.capability) }).toEqual({ seed, wider: [] });
      } else for (const refusal of made.refused) expect(refusal).toMatch(/to be had|at most|leave (?:it|these|`root`) out/);
    }
    expect(created).toBeGreaterThan(pairs / 5);
  });

  test(`over generations: ${chains} chains`, () => {
    let longest = 0;
    for (let seed = 0; seed < chains; seed++) {
      const random = new Random(-1 - seed);
      const lineage = [randomCapability(random)];
      for (let generation = 0; generation < 12 && lineage.length < 6; generation++) {
        const creator = lineage.at(-1) as Capability;
        const made = attenuate(creator, randomWish(random, creator), narrow);
        if (!made.ok) continue;
        for (const ancestor of lineage)
          expect({ seed, wider: widerCalls(ancestor, made.capability) }).toEqual({ seed, wider: [] });
        lineage.push(made.capability);
      }
      longest = Math.max(longest, lineage.length);
    }
    expect(longest).toBe(6);
  });

  test("has no more for the defaults of the manifest", () => {
    for (let seed = 0; seed < pairs / 4; seed++) {
      const random = new Random(seed * 7 + 3);
      const creator = randomCapability(random);
      const { model: _, ...defaults } = randomWish(random, randomCapability(random));
      const wish = withDefaults(creator, {}, defaults, narrow);
      const made = attenuate(creator, wish, narrow);
      if (!made.ok) throw new Error(`${seed}: ${made.refused.join("\n")}`);
      expect({ seed, wider: widerCalls(creator, made.capability) }).toEqual({ seed, wider: [] });
    }
  });

  test("can have all that its creator has", () => {
    for (let seed = 0; seed < pairs / 4; seed++) {
      const creator = randomCapability(new Random(seed * 11 + 5));
      const paths = Object.fromEntries(creator.scopes.map(({ name }) => [name, {}]));
      const own = Object.entries(creator.toolsets).map(([reference, { config, approvals }]) => [
        reference,
        { config, approvals },
      ]);
      const wish: WorkerWish = {
        sandbox: { ...("." in paths ? {} : { paths }), ...(creator.network ? { network_enabled: true } : {}) },
        toolsets: Object.fromEntries(own.map(([reference, toolset]) => [reference, toolset])),
        server_side_tools: creator.serverTools.map(({ type }) => ({ tool_type: type })),
        attachment_policy: {},
        model_settings: creator.modelSettings,
      };
      const made = attenuate(creator, wish, narrow);
      expect({ seed, refused: made.ok ? [] : made.refused }).toEqual({ seed, refused: [] });
    }
  });
});
