import { describe, expect, test } from "vitest";
import { judge } from "../../src/approval/verdict.ts";
import { type NarrowToolset, narrowPowers, withDefaults } from "../../src/compile/create/narrow-powers.ts";
import { approvalsOf, configOf, type Powers, withApprovals } from "../../src/compile/create/powers.ts";
import type { JsonObject, JsonValue } from "../../src/protocol/json.ts";
import { filesystem } from "../../src/toolsets/filesystem/filesystem.ts";
import type { ShellRule } from "../../src/toolsets/shell/config.ts";
import { narrowRules } from "../../src/toolsets/shell/narrow-rules.ts";
import { coversCommand, parsePattern } from "../../src/toolsets/shell/patterns.ts";
import type { OwnVerdict } from "../../src/toolsets/toolset.ts";
import { allowedWorkers, delegation } from "../../src/toolsets/workers/delegation.ts";
import { matchesFlatGlob } from "../../src/util/text/flat-glob.ts";

/*
 * Random creators and wishes. What comes out is compared with its creator by what single calls may do, and never by the functions that
 * narrow: a path that is read or written, a command, a call of a worker or a tool, an attachment, a host.
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

/** The powers of a worker, and the models that one which it creates may name. */
interface Creator {
  readonly powers: Powers;
  readonly models: readonly string[];
}

function randomScope(random: Random, name: keyof typeof folders): JsonObject {
  const mode = random.one(["ro", "rw"] as const);
  const write_approval = random.one([undefined, undefined, true, false]);
  return {
    ...{ root: folders[name], mode },
    ...random.maybe(0.3, () => ({ suffixes: [random.one(suffixes), ".md"] })),
    ...random.maybe(0.3, () => ({ max_file_bytes: random.one([10, 1000]) })),
    ...(mode === "rw" && write_approval !== undefined ? { write_approval } : {}),
    ...random.maybe(0.2, () => ({ read_approval: true })),
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

function randomCreator(random: Random): Creator {
  const references = random.some(Object.keys(tools), 0.7);
  const models = random.some(["p:one", "p:two"], 0.8);
  const scopes: [string, JsonObject][] = random.chance(0.2)
    ? [[".", { root: ".", mode: "rw" }]]
    : random.some(Object.keys(folders) as (keyof typeof folders)[]).map((name) => [name, randomScope(random, name)]);
  const [model] = models;
  const powers: Powers = {
    ...(model !== undefined && random.chance(0.5) ? { model } : {}),
    model_settings: {
      ...random.maybe(0.4, () => ({ max_output_tokens: random.one([10, 100]) })),
      ...random.maybe(0.3, () => ({ reasoning: random.one(["none", "low", "high"] as const) })),
      ...random.maybe(0.3, () => ({ provider_options: { p: { store: true, ...random.maybe(0.5, () => ({ tier: "fast" })) } } })),
    },
    sandbox: { paths: Object.fromEntries(scopes), network_enabled: random.chance(0.4), required: random.chance(0.3) },
    attachment_policy: {
      max_attachments: random.below(4),
      max_total_bytes: random.one([10, 1000]),
      ...random.maybe(0.5, () => ({ allowed_suffixes: [random.one(suffixes), ...random.some(suffixes)] })),
      denied_suffixes: random.some(suffixes, 0.2),
      ...random.maybe(0.3, () => ({ media_types: ["image/*"] })),
    },
    server_side_tools: random.some(["web_search", "web_fetch"] as const).map((tool_type) => ({
      tool_type,
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
      references.map((one) => [one, withApprovals(randomConfig(random, one), randomApprovals(random, one))]),
    ),
  };
  return { powers, models };
}

/** The creator's own, with parts left out and, often, one or the other part of another worker. */
function randomWish(random: Random, creator: Creator): Powers {
  const other = random.chance(0.5) ? randomCreator(random) : creator;
  const source = () => (random.chance(0.15) ? other : creator).powers;
  const scopes = source().sandbox?.paths ?? {};
  const paths = Object.fromEntries(
    random.some(Object.entries(scopes), 0.7).flatMap(([name, scope]) => (name === "." ? [] : [[name, scopeWish(random, scope)]])),
  );
  const named = random.some(Object.entries(source().toolsets ?? {}), 0.7).map(([reference, own]): [string, JsonObject] => {
    const config = random.chance(0.7) ? narrowed(random, configOf(own)) : randomConfig(random, reference);
    const approvals = random.chance(0.6) ? approvalsOf(own) : randomApprovals(random, reference);
    return [reference, withApprovals(random.chance(0.3) ? {} : config, random.chance(0.4) ? approvals : {})];
  });
  const { attachment_policy = {}, server_side_tools = [], limits = {}, model_settings, sandbox } = source();
  const [model] = (random.chance(0.15) ? other : creator).models;
  const { max_attachments = 0, allowed_suffixes = [] } = attachment_policy;
  return {
    ...(model !== undefined && random.chance(0.5) ? { model } : {}),
    ...random.maybe(0.5, () => ({ model_settings })),
    ...random.maybe(0.8, () => ({
      sandbox: {
        ...("." in scopes ? {} : { paths }),
        ...(sandbox?.network_enabled && random.chance(0.5) ? { network_enabled: true } : {}),
      },
    })),
    ...random.maybe(0.8, () => ({ toolsets: Object.fromEntries(named) })),
    ...random.maybe(0.4, () => ({
      server_side_tools: server_side_tools.map(({ tool_type = "", ...bounds }) => ({
        tool_type,
        ...(random.chance(0.5) ? bounds : {}),
      })),
    })),
    ...random.maybe(0.4, () => ({
      attachment_policy: {
        max_attachments,
        ...(textsOf(allowed_suffixes).length > 0 ? { allowed_suffixes: textsOf(allowed_suffixes).slice(0, 1) } : {}),
        denied_suffixes: random.some(suffixes, 0.2),
      },
    })),
    ...random.maybe(0.5, () => ({ limits: random.chance(0.7) ? limits : { ...limits, turns: random.one([1, 30, 70]) } })),
  };
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function scopeWish(random: Random, { mode = "ro", suffixes: own, max_file_bytes, write_approval }: JsonObject): JsonObject {
  return {
    ...random.maybe(0.5, () => ({ mode: random.chance(0.8) ? mode : "ro" })),
    ...(own
      ? random.maybe(0.5, () => ({ suffixes: textsOf(own).slice(0, 1) }))
      : random.maybe(0.2, () => ({ suffixes: [".md"] }))),
    ...random.maybe(0.3, () => ({ max_file_bytes: random.one([5, Number(max_file_bytes ?? 2000)]) })),
    ...random.maybe(0.2, () => ({ write_approval: random.chance(0.7) || write_approval !== false })),
    ...random.maybe(0.1, () => ({ read_approval: random.chance(0.7) })),
  };
}

function narrowed(random: Random, config: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(config).map(([key, value]) => [key, Array.isArray(value) ? random.some(value, 0.8) : value]),
  ) as JsonObject;
}

const narrow: NarrowToolset = (reference, { own, wish, scopes }) => {
  if (reference === "filesystem" && filesystem.narrow) return filesystem.narrow(own, wish, scopes);
  if (reference === "shell") return narrowRules(own, wish);
  if (reference === "delegation" && delegation.narrow) return delegation.narrow(own, wish, scopes);
  const isOwn = Object.keys(wish).length === 0 || JSON.stringify(wish) === JSON.stringify(own);
  return isOwn ? { ok: true, config: own } : { ok: false, why: "to be had: `{}`" };
};

const known = new WeakMap<Creator, ReadonlyMap<string, number>>();
const patterns = new Map(rules.map(({ pattern }) => [pattern, parsePattern(pattern)]));

function freedomsOf(worker: Creator): ReadonlyMap<string, number> {
  const found = known.get(worker) ?? freedoms(worker);
  known.set(worker, found);
  return found;
}

/** Every call that is tried, with how freely it runs: 0 not at all, 1 always after a question, 2 unless it is pre-approved, 3 freely. */
function freedoms({ powers, models }: Creator): Map<string, number> {
  const ofModels = ["p:one", "p:two"].map((model): [string, number] => [model, models.includes(model) ? 3 : 0]);
  return new Map([...tried.map(([name, freedomOf]): [string, number] => [name, freedomOf(powers)]), ...ofModels]);
}

type Tried = readonly [name: string, freedom: (powers: Powers) => number];

function isFree(isOpen: (powers: Powers) => boolean): Tried[1] {
  return (powers) => (isOpen(powers) ? 3 : 0);
}

interface Access {
  readonly folder: string;
  readonly suffix: string;
  readonly bytes: number;
  readonly access: "read" | "write";
}

const isIn = (folder: string, root: string) =>
  root === "." ? !folder.startsWith("/") : folder === root || folder.startsWith(`${root}/`);

function accessOf({ sandbox }: Powers, { folder, suffix, bytes, access }: Access): number {
  const around = Object.values(sandbox?.paths ?? {}).filter(({ root }) => isIn(folder, String(root)));
  const [scope] = around.sort((a, b) => String(b["root"]).length - String(a["root"]).length);
  if (!scope) return 0;
  const { mode, suffixes: allowed, max_file_bytes: most = 1e9, write_approval, read_approval } = scope;
  if ((allowed && !textsOf(allowed).includes(suffix)) || bytes > Number(most)) return 0;
  if (access === "read") return read_approval ? 1 : 3;
  if (mode === "ro") return 0;
  return write_approval === true ? 1 : write_approval === undefined ? 2 : 3;
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

function commandOf({ toolsets = {} }: Powers, { words, redirect }: Command): number {
  const shell = toolsets["shell"];
  if (!shell) return 0;
  const argv = words.map((value) => ({ kind: "static" as const, value, head: value, print: value }));
  const rule = ((shell["rules"] ?? []) as unknown as ShellRule[]).find(({ pattern }) =>
    coversCommand(patterns.get(pattern) ?? parsePattern(pattern), argv),
  );
  const standard = shell["default"] as { readonly approval_required: boolean } | undefined;
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
  { toolsets = {} }: Powers,
  {
    reference,
    tool,
    verdict: own,
  }: { readonly reference: string; readonly tool: string; readonly verdict: OwnVerdict | undefined },
): number {
  const found = toolsets[reference];
  if (!found) return 0;
  const approvals = approvalsOf(found);
  const { type } = judge({ own, preApproved: approvals[tool] ?? approvals["*"] });
  return type === "allowed" ? 3 : type === "ask" ? 1 : 0;
}

function callOf({ toolsets = {} }: Powers, worker: string): number {
  const globs = allowedWorkers(toolsets["delegation"] ?? {});
  return globs.some((glob) => matchesFlatGlob(glob, worker)) ? 3 : 0;
}

function attachOf(
  { attachment_policy: policy = {} }: Powers,
  { suffix, count }: { readonly suffix: string; readonly count: number },
): number {
  const { max_attachments: most = 0, allowed_suffixes: allowed, denied_suffixes: denied } = policy;
  if (count > Number(most) || textsOf(denied).includes(suffix)) return 0;
  return allowed === undefined || textsOf(allowed).includes(suffix) ? 3 : 0;
}

function visitOf(
  { server_side_tools: tools = [] }: Powers,
  { type, host, uses }: { readonly type: string; readonly host: string; readonly uses: number },
): number {
  const tool = tools.find(({ tool_type }) => tool_type === type);
  if (!tool || uses > Number(tool["max_uses"] ?? 1e9) || textsOf(tool["blocked_domains"]).includes(host)) return 0;
  return tool["allowed_domains"] && !textsOf(tool["allowed_domains"]).includes(host) ? 0 : 3;
}

const optionOf = ({ model_settings: { provider_options: options } = {} }: Powers, name: string) =>
  ((options as JsonObject | undefined)?.["p"] as JsonObject | undefined)?.[name];
const bounds = { turns: 50, usd: 1e9, depth: 1e9 } as const;
const boundNames = Object.keys(bounds) as (keyof typeof bounds)[];

const tried: readonly Tried[] = [
  ...[".", ...Object.values(folders)].flatMap((folder) =>
    suffixes.flatMap((suffix) =>
      [5, 500, 5000].flatMap((bytes) =>
        (["read", "write"] as const).map(
          (access): Tried => [
            `${access} ${folder}/x${suffix} ${bytes}`,
            (powers) => accessOf(powers, { folder, suffix, bytes, access }),
          ],
        ),
      ),
    ),
  ),
  ...commands.map((command): Tried => [JSON.stringify(command), (powers) => commandOf(powers, command)]),
  ...Object.entries(tools).flatMap(([reference, own]) =>
    own.flatMap((tool) =>
      verdicts.map(
        (verdict): Tried => [
          `${reference}/${tool} ${JSON.stringify(verdict)}`,
          (powers) => toolOf(powers, { reference, tool, verdict }),
        ],
      ),
    ),
  ),
  ...[...workers, "review_z"].map((worker): Tried => [`call ${worker}`, (powers) => callOf(powers, worker)]),
  ...suffixes.flatMap((suffix) =>
    [1, 2, 3].map((count): Tried => [`attach ${count} ${suffix}`, (powers) => attachOf(powers, { suffix, count })]),
  ),
  ...["web_search", "web_fetch"].flatMap((type) =>
    ["a.org", "c.org", "d.org"].flatMap((host) =>
      [1, 3, 9].map((uses): Tried => [`${type} ${host} ${uses}`, (powers) => visitOf(powers, { type, host, uses })]),
    ),
  ),
  ["network", isFree(({ sandbox }) => sandbox?.network_enabled === true)],
  ["not isolated", isFree(({ sandbox }) => !sandbox?.required)],
  ["option store", isFree((powers) => optionOf(powers, "store") === true)],
  ["option tier", isFree((powers) => optionOf(powers, "tier") === "fast")],
  ...boundNames.flatMap((name) =>
    [0.05, 1, 3, 20, 55, 80].map(
      (amount): Tried => [`${name} ${amount}`, isFree(({ limits = {} }) => amount <= Number(limits[name] ?? bounds[name]))],
    ),
  ),
  ...[50, 5000].map(
    (amount): Tried => [
      `answer ${amount}`,
      isFree(({ model_settings = {} }) => amount <= Number(model_settings["max_output_tokens"] ?? 1e9)),
    ],
  ),
];

function widerCalls(creator: Creator, created: Creator): string[] {
  const own = freedomsOf(creator);
  return [...freedomsOf(created)].flatMap(([call, freedom]) => (freedom > (own.get(call) ?? 0) ? [`${call}: ${freedom}`] : []));
}

/** The worker that comes out, or all that was refused. */
function make({ powers: own, models }: Creator, wish: Powers): Creator | readonly string[] {
  const { powers, refused } = narrowPowers(own, wish, { models, narrow });
  const { model } = powers;
  return refused.length > 0 ? refused : { powers, models: model === undefined ? models.slice(0, 1) : [model] };
}

describe("a created worker", () => {
  test(`never has more than its creator: ${pairs} pairs`, () => {
    let created = 0;
    for (let seed = 0; seed < pairs; seed++) {
      const random = new Random(seed);
      const creator = randomCreator(random);
      const made = make(creator, randomWish(random, creator));
      if ("powers" in made) {
        created++;
        expect({ seed, wider: widerCalls(creator, made) }).toEqual({ seed, wider: [] });
      } else for (const refusal of made) expect(refusal).toMatch(/to be had|at most|leave (?:it|these|`root`) out/);
    }
    expect(created).toBeGreaterThan(pairs / 5);
  });

  test(`over generations: ${chains} chains`, () => {
    let longest = 0;
    for (let seed = 0; seed < chains; seed++) {
      const random = new Random(-1 - seed);
      const lineage = [randomCreator(random)];
      for (let generation = 0; generation < 12 && lineage.length < 6; generation++) {
        const creator = lineage.at(-1) as Creator;
        const made = make(creator, randomWish(random, creator));
        if (!("powers" in made)) continue;
        for (const ancestor of lineage) expect({ seed, wider: widerCalls(ancestor, made) }).toEqual({ seed, wider: [] });
        lineage.push(made);
      }
      longest = Math.max(longest, lineage.length);
    }
    expect(longest).toBe(6);
  });

  test("has no more for the defaults of the manifest", () => {
    for (let seed = 0; seed < pairs / 4; seed++) {
      const random = new Random(seed * 7 + 3);
      const creator = randomCreator(random);
      const { model: _, ...defaults } = randomWish(random, randomCreator(random));
      const wish = withDefaults(creator.powers, {}, { models: creator.models, narrow, defaults });
      const made = make(creator, wish);
      if (!("powers" in made)) throw new Error(`${seed}: ${made.join("\n")}`);
      expect({ seed, wider: widerCalls(creator, made) }).toEqual({ seed, wider: [] });
    }
  });

  test("can have all that its creator has", () => {
    for (let seed = 0; seed < pairs / 4; seed++) {
      const creator = randomCreator(new Random(seed * 11 + 5));
      const { sandbox: { paths = {}, network_enabled } = {}, toolsets, server_side_tools = [], model_settings } = creator.powers;
      const made = make(creator, {
        sandbox: {
          ...("." in paths ? {} : { paths: Object.fromEntries(Object.keys(paths).map((name) => [name, {}])) }),
          ...(network_enabled ? { network_enabled } : {}),
        },
        toolsets,
        server_side_tools: server_side_tools.map(({ tool_type = "" }) => ({ tool_type })),
        attachment_policy: {},
        model_settings,
      });
      expect({ seed, refused: "powers" in made ? [] : made }).toEqual({ seed, refused: [] });
    }
  });
});
