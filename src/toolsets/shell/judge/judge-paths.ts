import { compileGlob } from "../../../host/glob.ts";
import type { Protection } from "../../../host/scopes.ts";
import { followPath } from "../parse/folders.ts";
import type { Folder, PlannedRedirect, ShellWord, SimpleCommand } from "../parse/plan.ts";
import { nameWord } from "../parse/quote.ts";
import type { Effect, ProgramReading } from "../programs/program.ts";
import {
  folderOfGlob,
  isGuess,
  isTooLong,
  lookedUp,
  type NamedProtection,
  type PathTable,
  pathsIn,
  protectionOfPath,
  type Where,
  whereIs,
  withEnds,
} from "./path-table.ts";
import { askFor, type Finding } from "./reasons.ts";

export interface PathWork {
  readonly table: PathTable;
  readonly command: SimpleCommand;
  readonly reading: ProgramReading;
  /** Words that belong to another program, and are judged with it. */
  readonly others: ReadonlySet<ShellWord>;
  /** No other command of the line could make a folder. */
  readonly isAlone: boolean;
  /** Folders that the line makes by copying others, with the links that are in them. */
  readonly copied: readonly Folder[];
}

/** Folders that a command makes by copying others as they are. */
export function copiedBy(table: PathTable, { folders = [] }: SimpleCommand, { lands }: ProgramReading): readonly Folder[] {
  if (lands?.keepsLinks !== true) return [];
  return folders.flatMap((folder) => {
    const where = whereIs(table, folder, lands.into);
    const isFolder = lands.isSure || (where.type === "inside" && where.fact?.type === "directory");
    return (isFolder ? lands.paths : [lands.into, ...lands.paths]).flatMap((path) => {
      const place = followPath(folder, path);
      return place === undefined ? [] : [place];
    });
  });
}

/** Asks below a folder that the line copies: its content by then was not looked up. */
function judgeCopied(copied: readonly Folder[], where: Where, name: string): readonly Finding[] {
  if (where.type === "outside") return [];
  const { components } = where;
  const isBelow = (folder: Folder) => components.length > folder.length && folder.every((one, at) => one === components[at]);
  return copied.some(isBelow) ? [askFor(`${name} could be a link that the line copies there`)] : [];
}

/** Judges the paths among a command's arguments, whatever a rule says. */
export function judgePaths(work: PathWork): readonly Finding[] {
  const { command, reading, others } = work;
  const [program] = command.words;
  const findings = withEnds(command.words).flatMap(([word, ended], index) => {
    if (index === 0 || others.has(word) || reading.texts?.has(index) === true) return [];
    const effect = effectOf(reading, index);
    return [...judgeWord(work, word, { effect, ended }), ...(reading.moves?.has(index) === true ? judgeMoved(work, word) : [])];
  });
  return program === undefined
    ? findings
    : [...findings, ...judgeLanding(work), ...judgeProgram(program, command.folders ?? []), ...judgeFolders(work, program)];
}

/** A program that could write without naming a path writes where it runs. */
function judgeFolders({ table, command, reading }: PathWork, program: ShellWord): readonly Finding[] {
  if (reading.effect === "read" || reading.effect === "text") return [];
  return (command.folders ?? []).flatMap((folder) => {
    const where = whereIs(table, folder, ".");
    const scope = where.type === "inside" ? where.fact?.scope : undefined;
    if (scope?.writeApproval !== true) return [];
    return [askFor(`${nameWord(program)} could write where it runs: write_approval of the scope ${scope.name}`)];
  });
}

export function effectOf(reading: ProgramReading, index: number): Effect {
  if (reading.writes?.has(index) === true) return "write";
  return reading.reads?.has(index) === true ? "read" : reading.effect;
}

function judgeWord(work: PathWork, word: Pick<ShellWord, "kind" | "value">, { effect, ended }: WordRole): readonly Finding[] {
  if (effect === "text") return [];
  const name = nameWord(word);
  const findings: Finding[] = isTooLong(word) ? [askFor(`\`${word.value.slice(0, 20)}…\` is too long to find a path in it`)] : [];
  for (const folder of work.command.folders ?? [[]]) {
    for (const path of pathsIn(word)) findings.push(...judgeName(protectionOfPath(folder, path), effect, name));
    for (const path of lookedUp(word, ended)) {
      const where = whereIs(work.table, folder, word.kind === "glob" ? folderOfGlob(path) : path);
      if (isGuess(word, path) && !isThere(where)) continue;
      findings.push(...judgeFact(where, effect, name), ...judgeCopied(work.copied, where, name));
      const isScope = where.type === "inside" && where.components.length === 0 && word.kind === "static";
      if (effect === "write" && isScope) findings.push(askFor(`${name} is a whole scope`));
    }
  }
  if (word.kind === "glob") findings.push(...judgeGlob(word.value, name, effect === "read" && work.reading.lands === undefined));
  return findings;
}

/** A folder takes sources under their own names. */
function judgeLanding(work: PathWork): readonly Finding[] {
  const { table, command, reading, isAlone } = work;
  const { into = "", paths = [], isSure = false } = reading.lands ?? {};
  const isFolder = (command.folders ?? [[]]).some((folder) => {
    const where = whereIs(table, folder, into);
    const type = where.type === "inside" ? where.fact?.type : undefined;
    return isSure || (type !== "file" && !(type === "missing" && isAlone));
  });
  if (!isFolder) return [];
  const copied = [...work.copied];
  for (const own of copiedBy(table, command, reading)) {
    copied.splice(copied.findIndex((folder) => folder.join("/") === own.join("/")) >>> 0, 1);
  }
  return paths.flatMap((value) => judgeWord({ ...work, copied }, { kind: "static", value }, { effect: "write", ended: true }));
}

/** A folder takes all with it that is protected where it is, and may not be where it goes. */
function judgeMoved({ table, command }: PathWork, word: ShellWord): readonly Finding[] {
  const isFolder = (command.folders ?? []).some((folder) => {
    const where = whereIs(table, folder, word.value);
    return word.kind !== "static" || (where.type === "inside" && where.fact?.type === "directory");
  });
  return isFolder ? [askFor(`${nameWord(word)} is a folder, and all in it moves`)] : [];
}

interface WordRole {
  readonly effect: Effect;
  readonly ended: boolean;
}

function judgeName(found: NamedProtection | undefined, effect: Effect, name: string): readonly Finding[] {
  return judgeProtection(found?.protection, effect, name).map((finding) => ({ ...finding, ...(found && { opens: found.name }) }));
}

function judgeProtection(protection: Protection | undefined, effect: Effect, name: string): readonly Finding[] {
  if (protection === "program")
    return effect === "read" ? [] : [{ reason: { level: "blocked", why: `${name} belongs to the running program` } }];
  const protects = protection === "ask-read-and-write" || (protection === "ask-write" && effect !== "read");
  return protects ? [askFor(`${name} is a protected name`)] : [];
}

function judgeFact(where: Where, effect: Effect, name: string): readonly Finding[] {
  if (where.type === "outside") return effect === "write" ? [askFor(`${name} may lie outside the scopes`)] : [];
  const { fact } = where;
  if (fact === undefined) return effect === "write" ? [askFor(`what ${name} is was not looked up`)] : [];
  const findings = [...judgeProtection(fact.protection, effect, name)];
  if (fact.type === "link") findings.push(askFor(`${name} is a link, or lies behind one`));
  if (fact.scope.readApproval === true) findings.push(askFor(`${name}: read_approval of the scope ${fact.scope.name}`));
  const writes = effect === "write";
  if (writes && fact.scope.mode === "ro") findings.push(askFor(`${name} lies in a scope that is read-only`));
  if (effect !== "read" && fact.scope.writeApproval === true) {
    findings.push(askFor(`${name}: write_approval of the scope ${fact.scope.name}`));
  }
  return findings;
}

/** A glob that was not looked up. Names with a leading dot, which also ask before they are read, are hit only by a dot. */
function judgeGlob(pattern: string, name: string, isRead: boolean): readonly Finding[] {
  if (folderOfGlob(pattern) === pattern) return [askFor(`where ${name} leads is not known`)];
  const isHarmless = isRead && !pattern.split("/").some((component) => /^\..*[*?[]/.test(component));
  return isHarmless ? [] : [askFor(`${name} can mean protected names`)];
}

/** A program in a place with a protected name. */
function judgeProgram(program: ShellWord, folders: readonly Folder[]): readonly Finding[] {
  if (!program.value.includes("/")) return [];
  const isProtected = folders.some((folder) => protectionOfPath(folder, program.value) !== undefined);
  return isProtected ? [askFor(`${nameWord(program)} is a protected name`)] : [];
}

export interface RedirectWork extends Pick<PathWork, "table" | "command" | "copied"> {
  /** Globs of virtual paths that the command's rule lets be written. */
  readonly allowed: readonly string[];
}

/** Writing to a file asks, unless the rule names its path; reading one is free where it lies in a scope. */
export function judgeRedirect(work: RedirectWork, { type, target }: PlannedRedirect): readonly Finding[] {
  const { table, command, copied } = work;
  if (type === "free" || type === "text" || target === undefined) return type === "write" ? [askFor("it redirects")] : [];
  const name = nameWord(target);
  const effect = type === "write" ? "write" : "read";
  const findings: Finding[] = type === "write" && !isNamedByRule(work, target) ? [askFor(`it writes to the file ${name}`)] : [];
  for (const folder of command.folders ?? [[]]) {
    const where = whereIs(table, folder, target.value);
    findings.push(...judgeName(protectionOfPath(folder, target.value), effect, name), ...judgeFact(where, effect, name));
    findings.push(...judgeCopied(copied, where, name));
    const isKnown = where.type === "inside" && where.fact?.type === "file" && target.kind === "static";
    if (type === "read" && !isKnown) findings.push(askFor(`it reads ${name}, which is not a file of the scopes`));
  }
  return findings;
}

/** Protected names, `write_approval` and links are judged elsewhere: no glob lifts them. A redirection knows no size. */
function isNamedByRule({ table, command, allowed }: RedirectWork, { kind, value }: ShellWord): boolean {
  if (allowed.length === 0 || kind !== "static" || command.folders === undefined) return false;
  return command.folders.every((folder) => {
    const where = whereIs(table, folder, value);
    const fact = where.type === "inside" ? where.fact : undefined;
    if (fact?.writable === undefined || (fact.type !== "file" && fact.type !== "missing")) return false;
    const path = fact.writable;
    return fact.scope.maxFileBytes === undefined && allowed.some((glob) => matchesGlob(glob, path));
  });
}

function matchesGlob(pattern: string, path: string): boolean {
  const { start, step, accepts } = compileGlob(pattern);
  return accepts(path.split("/").reduce(step, start));
}

export function isThere(where: Where): boolean {
  return where.type === "inside" && where.fact !== undefined && where.fact.type !== "missing";
}
