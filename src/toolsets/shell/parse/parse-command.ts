import type { parse as parseBash } from "unbash";
import { formatCount } from "../../../util/text/format-count.ts";
import { nameSet } from "../../../util/text/name-set.ts";
import { accountsForAll } from "./operators.ts";
import type { Folders, ShellPlan } from "./plan.ts";
import { quoteProgram } from "./quote.ts";
import type { ScriptContext } from "./scripts.ts";
import { type EachChild, TooMuch, Walk } from "./walk.ts";

/** Longer than this, or with scripts deeper in scripts, a text is never run without a question, whatever the rules say. */
const maxCommandLength = 10_000;
const maxDepth = 4;

/** Reads command lines. Pure once it has been loaded. */
export type CommandParser = (text: string, folders: Folders) => ShellPlan;

/** The grammar is loaded by those runs alone that use a shell. */
export async function loadCommandParser(): Promise<CommandParser> {
  const { parse, forEachChild } = await import("unbash");
  return (text, folders) => readText({ parse, eachChild: forEachChild, depth: 0 }, text, { folders });
}

interface Reader {
  readonly parse: typeof parseBash;
  readonly eachChild: EachChild;
  readonly depth: number;
}

function readText(reader: Reader, text: string, context: ScriptContext): ShellPlan {
  const refused = refusalOf(text);
  if (refused !== undefined) return { commands: [], findings: [], refused };
  const doubt = doubtOf(reader, text);
  if (doubt !== undefined) return { commands: [], findings: [], uncertain: doubt };
  try {
    return readParsed(reader, text, context);
  } catch (error) {
    return { commands: [], findings: [], uncertain: error instanceof TooMuch ? error.message : "the parser failed at it" };
  }
}

function readParsed(reader: Reader, text: string, context: ScriptContext): ShellPlan {
  const inner = { ...reader, depth: reader.depth + 1 };
  const walk = new Walk({
    eachChild: reader.eachChild,
    readInner: (script, where) => readText(inner, script, where),
  });
  const { print } = walk.script(reader.parse(text), context);
  const findings = [...walk.findings, ...invisible(text)];
  const { commands, uncertain } = walk;
  if (commands.length === 0 && findings.length === 0 && uncertain === undefined)
    return { commands, findings, refused: "there is no command in it" };
  const isExact = uncertain === undefined && print !== undefined;
  if (isExact && !accountsForAll(text, walk.spans, walk.operators)) {
    return { commands, findings, uncertain: "a part of it was not understood" };
  }
  const plan = { commands, findings, isBashOnly: walk.isBashOnly, ...(uncertain === undefined ? {} : { uncertain }) };
  if (!isExact) return plan;
  const argv = plainArgv(plan, print);
  return argv === undefined ? { ...plan, script: print } : { ...plan, script: print, argv };
}

/** Reasons that no approval lifts. */
function refusalOf(text: string): string | undefined {
  if (!text.isWellFormed()) return "it holds half a character (a lone surrogate)";
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(text)) return "it holds control characters";
  return undefined;
}

function doubtOf(reader: Reader, text: string): string | undefined {
  if (text.length > maxCommandLength) return `it is longer than ${formatCount(maxCommandLength)} characters`;
  return reader.depth > maxDepth ? "it has scripts in scripts in scripts" : undefined;
}

/** Characters that a person does not see, or takes for blanks where the shell does not. */
function invisible(text: string): string[] {
  const found = /[\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u.test(text);
  return found ? ["it holds invisible characters or unusual blanks"] : [];
}

/** One program, every word known, nothing for a shell to do. */
function plainArgv({ commands, findings }: ShellPlan, print: string): readonly string[] | undefined {
  const [only] = commands;
  if (only === undefined || commands.length > 1 || findings.length > 0) return undefined;
  if (only.redirects.length > 0 || only.words.some((word) => word.kind !== "static")) return undefined;
  const argv = only.words.map((word) => word.value);
  const alone = only.words.map((word, index) => (index === 0 ? quoteProgram(word.value) : word.print)).join(" ");
  // Otherwise there is something around it: `time`, `!`, a group.
  return alone === print && !needsShell(argv[0] ?? "") ? argv : undefined;
}

/** Programs that bash has built in: they mean what bash makes of them. */
const builtIns = nameSet(
  `. : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown echo enable eval exec
  exit export false fc fg getopts hash help history jobs kill let local logout mapfile popd printf pushd pwd read readarray
  readonly return set shift shopt source suspend test times trap true type typeset ulimit umask unalias unset wait`,
);

export function needsShell(program: string): boolean {
  return builtIns.has(program) || program === "";
}
