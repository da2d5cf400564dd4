import { spawn } from "node:child_process";
import type { Arity, OptionRow, OptionTable } from "../../src/toolsets/shell/programs/options.ts";

/** Way in which a program is asked about an option. */
export interface Drive {
  readonly program: string;
  /** Words before the option. */
  readonly before?: readonly string[];
  /** Operands without which the program reads no options. */
  readonly after?: readonly string[];
  /** An option that the program does not know. */
  readonly canary?: string;
  /** Recognizes a program's words for an option that it does not know, where they are none of the usual ones. */
  readonly refuses?: RegExp;
  /** It takes no value from the next word that begins with a dash, and says that the value is missing. */
  readonly wantsPlainValues?: boolean;
}

/**
 * `absent`: this version does not know the option, and would say so. `ends`: the program prints and ends before it reads on. An
 * arity: what the program takes, other than the table claims.
 */
export type Finding = "claimed" | "absent" | "ends" | "unclear" | Arity;

export interface DrivenOption {
  readonly table: OptionTable;
  readonly row: OptionRow;
  readonly name: string;
  readonly cwd: string;
}

const canaryLetter = "%";

/**
 * Finds out how many values a program takes behind an option. An unknown option is put behind it: if the program complains of that,
 * it took no value. If it does not, the next unknown option is put further back, until it complains.
 */
export async function driveOption(drive: Drive, { table, row, name, cwd }: DrivenOption): Promise<Finding> {
  const { program, before = [], after = [], canary = "--llm-do-x", refuses, wantsPlainValues = false } = drive;
  const start = (...words: readonly string[]) => run(program, [...before, ...words], cwd);
  const complains = (text: string, option: string) => refuses?.test(text) === true || isUnknown(text, option);
  const claim = (found: Arity): Finding => (found === row.arity ? "claimed" : found);
  const behind = await start(name, canary, ...after);
  if (isUnknown(behind, name)) return "absent";
  const isLetter = /^-[^-]$/.test(name) && table.style === "letters";
  const wants = async () => wantsValue.test(behind) || wantsValue.test(await start(name));
  if (complains(behind, canary) && !(wantsPlainValues && (await wants()))) {
    if (!isLetter) return row.arity === "optional" ? "claimed" : claim("none");
    // Letters behind a letter are its value, or further options.
    const attached = await start(`${name}${canaryLetter}`, ...after);
    const isFlag = complains(attached, canaryLetter) || complains(attached, `${name}${canaryLetter}`) || takesNone.test(attached);
    return claim(isFlag ? "none" : "optional");
  }
  if (refusesValue.test(behind) && behind.includes(canary)) return claim("one");
  if (complains(await start(name, "1", canary, ...after), canary)) return claim("one");
  if (row.arity === "two" && complains(await start(name, "1", "1", canary, ...after), canary)) return "claimed";
  const alone = await start(name);
  if (isUnknown(alone, name)) return "absent";
  if (/takes two|requires two/.test(alone)) return claim("two");
  if (wantsValue.test(alone)) return claim("one");
  return row.arity === "none" && !wantsValue.test(behind) ? "ends" : "unclear";
}

/** Returns what the program says where it takes what follows `--` for an option, or knows no `--`. Empty: it ends the options there. */
export async function driveEnd({ program, before = [], canary = "--llm-do-x" }: Drive, cwd: string): Promise<string> {
  const start = (...words: readonly string[]) => run(program, [...before, ...words], cwd);
  for (const words of [[canary], ["a", canary]]) {
    const said = await start("--", ...words);
    if (isUnknown(said, canary) || isUnknown(said, "--")) return said;
  }
  return "";
}

const wantsValue =
  /(?:requires?|needs?|expects?|expected|missing|without|lacks) (?:an? |its |one |at least one )?(?:argument|parameter|value|option argument)|argument (?:to|for) .* (?:missing|required)|invalid for option|isn't a valid value/i;

/** It read the next word, and does not like it. */
const refusesValue = /malformed object name|cannot change to|invalid option name/;

const takesNone = /ignored explicit argument|doesn't allow an argument|takes no/;

const unknownWords =
  /(?:unrecogni[sz]ed|unknown|unexpected|no such|bad) (?:long |short |cli )?(?:option|argument|flag|switch|predicate|config)s?|(?:illegal|invalid) (?:option|flag|switch)(?! name)|incorrect parameter|wasn't expected|not an option|is unknown|there is no/i;

/** True where a message says that an option is unknown. */
export function isUnknown(text: string, option: string): boolean {
  const bare = option.replace(/^-+/, "").replaceAll(/[.*+?^${}()|[\]\\#]/g, "\\$&");
  const named = new RegExp(`(?:^|[\\s'"\`‘:=(])-{0,2}${bare}(?:$|[\\s'"\`’.,;:)=])`);
  return text.split("\n").some((line) => unknownWords.test(line) && named.test(line.replace(unknownWords, " ")));
}

function run(program: string, args: readonly string[], cwd: string): Promise<string> {
  const env = { PATH: process.env["PATH"] ?? "", HOME: cwd, LC_ALL: "C", TERM: "dumb", PAGER: "cat", GIT_CONFIG_NOSYSTEM: "1" };
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], timeout: 8_000, killSignal: "SIGKILL" });
  let text = "";
  const add = (chunk: Buffer) => {
    if (text.length < 100_000) text += chunk.toString("latin1");
  };
  child.stdout.on("data", add);
  child.stderr.on("data", add);
  return new Promise((resolve) => {
    child.on("error", () => resolve(text));
    child.on("close", () => resolve(text));
  });
}
