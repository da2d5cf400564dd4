import { isAbsolute, join, relative } from "node:path";
import type { Compiled } from "../compile/compile.ts";
import type { NeedOfTrust } from "../compile/compile-error.ts";
import { growthOfWorker } from "../compile/powers/reach.ts";
import type { Reach, WorkerReach } from "../protocol/reach.ts";
import type { Limits } from "../protocol/usage.ts";
import { isWithin } from "../util/within.ts";

/** A part of a case as it was compiled in its scratch copy. */
export interface CompiledPart {
  /** The case's name. */
  readonly name: string;
  /** Absolute path of the scratch copy. */
  readonly folder: string;
  /** Variables that the case sets. */
  readonly env: Readonly<Record<string, string>>;
  /** Code that the case brings, with the beginning of its digest: trust in a file of the program covers no other text in its place. */
  readonly brought: readonly string[];
  /** The beginnings of the digests of all code in the copy, by its paths there. */
  readonly digests: ReadonlyMap<string, string>;
  readonly compiled: Compiled;
  readonly trust: () => Promise<Compiled>;
}

export interface TestedProgram {
  /** Absolute path of the program's folder. */
  readonly root: string;
  /** As it lies there. */
  readonly compiled: Compiled;
  /** Those of its cases. */
  readonly parts: readonly CompiledPart[];
}

/**
 * The one thing that trust is asked for: what the programs and their cases can do together. `folder`: that of the test files. Undefined
 * if nothing needs trust. Its `trust` imports the code of all of them.
 */
export function needOfTests(folder: string, programs: readonly TestedProgram[]): Compiled | undefined {
  const [first] = programs;
  const reasons = [...new Set(programs.flatMap(reasonsOf))];
  const reach = mergePrograms(programs);
  if (reasons.length === 0 || !first || !reach) return undefined;
  const needs = programs.flatMap(({ root, compiled, parts }) => {
    const inProgram = (path: string, copy: string) => (isWithin(path, copy) ? join(root, relative(copy, path)) : path);
    const ofParts = parts.map(({ folder: copy, compiled: { untrusted } }) => ({
      files: untrusted?.files.map((path) => inProgram(path, copy)) ?? [],
      addresses: untrusted?.addresses ?? [],
    }));
    return [...(compiled.untrusted ? [compiled.untrusted] : []), ...ofParts];
  });
  const list = (key: "files" | "addresses") => [...new Set(needs.flatMap((need) => need[key]))];
  const untrusted: NeedOfTrust = { root: folder, files: list("files"), addresses: list("addresses"), reasons };
  const trust = async (): Promise<Compiled> => {
    const trusted = programs.map(async ({ compiled, parts, ...program }) => ({
      ...program,
      compiled: (await compiled.trust?.()) ?? compiled,
      parts: await Promise.all(parts.map(async (part) => ({ ...part, compiled: await part.trust() }))),
    }));
    return { ...first.compiled, reach: mergePrograms(await Promise.all(trusted)) ?? reach };
  };
  return { ...first.compiled, untrusted, reach, trust };
}

/** Describes what a part can do, in a form that two compilations of it can be compared in. Undefined if it has errors. */
export function describePart(
  part: Omit<CompiledPart, "name" | "brought" | "digests" | "trust">,
  root: string,
): Reach | undefined {
  const { compiled, env } = part;
  if (!compiled.reach) return undefined;
  const reach = showAt(compiled.reach, part, root);
  const set = (name: string) => (Object.hasOwn(env, name) ? `${name}=${env[name]}` : name);
  const workers = Object.entries(reach.workers).map(([id, worker]) => [id, withoutScripts(worker)]);
  return { ...reach, variables: reach.variables.map(set), workers: Object.fromEntries(workers) };
}

/** True for a part that can only do what needs no trust if its program lies. */
function isHarmless({ compiled: { untrusted } }: Pick<CompiledPart, "compiled">, root: string): boolean {
  // Packages of the program are not copied, and lie beyond the copy.
  const isPackage = (path: string) => isWithin(path, join(root, "node_modules"));
  return !untrusted || (untrusted.addresses.length === 0 && untrusted.files.every(isPackage));
}

function reasonsOf({ root, compiled, parts }: TestedProgram): readonly string[] {
  const own = compiled.untrusted?.reasons ?? [];
  const ofTests = parts.flatMap((part) => {
    if (isHarmless(part, root)) return [];
    const { untrusted, reach } = part.compiled;
    const set = (reach?.variables ?? []).filter((name) => Object.hasOwn(part.env, name));
    const reasons = showAt(untrusted?.reasons ?? [], part, root).filter((reason) => !own.includes(reason));
    const brought = part.brought.map((file) => `runs code that the case \`${part.name}\` brings: ${file}`);
    return [...reasons, ...brought, ...set.map((name) => `takes the variable ${name} as ${part.env[name]}`)];
  });
  return [...own, ...ofTests.map((reason) => `in tests ${reason}`)];
}

/** Names files of the copy as those of the program. */
function showAt<T>(value: T, { folder }: Pick<CompiledPart, "folder">, root: string): T {
  const text = (path: string) => JSON.stringify(path).slice(1, -1);
  const shown = [folder, root].reduce((json, path) => json.replaceAll(text(`${path}/`), ""), JSON.stringify(value));
  return JSON.parse(shown) as T;
}

/** Scripts of data in the program play models, and can do nothing. Those in code are among the code. */
function withoutScripts(worker: WorkerReach): WorkerReach {
  const isOwn = (model: string) => model.startsWith("scripted:") && !isAbsolute(model.slice("scripted:".length));
  return { ...worker, models: worker.models.filter((model) => !isOwn(model)) };
}

/** The reach of all programs. Undefined if one of them has errors. */
function mergePrograms(programs: readonly TestedProgram[]): Reach | undefined {
  const reaches = programs.flatMap(({ root, compiled, parts }) => {
    const { reach } = compiled;
    if (!reach) return [];
    const ofParts = parts.flatMap((part) => {
      const described = describePart(part, root);
      const code = [
        ...(described?.code ?? []).map((file) => nameOfCode(file, part, reach)),
        ...part.brought.map((file) => `${file} of the case \`${part.name}\``),
      ];
      return described ? [{ ...described, code, workers: workersOf(part, described, reach) }] : [];
    });
    return [reach, ...ofParts];
  });
  return reaches.length === 0 ? undefined : reaches.reduce(merge);
}

/** No file tool writes code of the program. Code that only tests run is data like others: it is trusted for what it holds. */
function nameOfCode(file: string, { digests }: CompiledPart, program: Reach): string {
  const digest = program.code.includes(file) ? undefined : digests.get(file);
  return digest === undefined ? file : `${file} in tests (${digest})`;
}

/** The workers that can do more in a case than in the program, by names of their own. */
function workersOf({ name }: CompiledPart, { workers }: Reach, program: Reach): Reach["workers"] {
  const grown = Object.entries(workers).filter(([id, worker]) => {
    const known = Object.hasOwn(program.workers, id) ? program.workers[id] : undefined;
    return !known || growthOfWorker(withoutScripts(known), worker).length > 0;
  });
  return Object.fromEntries(grown.map(([id, worker]) => [`${id} in the case \`${name}\``, worker]));
}

function merge(one: Reach, other: Reach): Reach {
  const both = (key: "code" | "packages" | "variables" | "addresses") => [...new Set([...one[key], ...other[key]])];
  return {
    code: both("code"),
    packages: both("packages"),
    variables: both("variables"),
    addresses: both("addresses"),
    workers: { ...one.workers, ...other.workers },
    restrictions: one.restrictions.filter((rule) => other.restrictions.includes(rule)),
    limits: loosest(one.limits, other.limits),
  };
}

/** Limits that both have, each with the larger number. */
function loosest(one: Limits, other: Limits): Limits {
  const shared = Object.entries(one).flatMap(([name, limit]: [string, number]) => {
    const also = other[name as keyof Limits];
    return also === undefined ? [] : [[name, Math.max(limit, also)]];
  });
  return Object.fromEntries(shared);
}
