import { baseName, knownShells } from "../parse/scripts.ts";
import { findOption, optionTable, readOptions } from "./options.ts";
import { hatch, type Program, type ProgramReading, runs } from "./program.ts";

/** Options that bring the program along, with the letters that may stand before them in one word. */
const codeOptions: ReadonlyMap<string, RegExp> = new Map([
  ["python", /^-[bBEIOsSu]*[cm]/],
  ["pypy", /^-[bBEIOsSu]*[cm]/],
  ["node", /^(?:-e|-p|-pe|--eval|--print)$/],
  ["perl", /^-[anplwW]*[eE]$/],
  ["ruby", /^-[anplw]*e$/],
  ["php", /^-r$/],
  ["lua", /^-e$/],
]);

export const runsInput = runs("it runs what it is given as input");

/** Runs a program from its input when it is given none: no rule makes that harmless. */
export function interpreter(name: string): Program {
  const read: Program["read"] = ({ words, hasInput }) => {
    const [, first] = words;
    const isInput = words.slice(1).some(({ value }) => value === "-" || value.startsWith("/dev/") || value.startsWith("/proc/"));
    const isCode = first !== undefined && codeOptions.get(name)?.test(first.value) === true;
    const isScript = first?.kind === "static" && !first.value.startsWith("-") && name !== "deno" && name !== "bun";
    // With an input, only a first word that shows where the program is keeps it from being taken from there.
    const asks = first === undefined || isInput || (hasInput && !isCode && !isScript);
    const script = words.findIndex(({ value }, index) => index > 0 && !value.startsWith("-"));
    return { hatches: asks ? [runsInput] : [], effect: "unknown", ...(script === -1 ? {} : { reads: new Set([script]) }) };
  };
  return { read };
}

const options = optionTable("c e u x f n v o= norc noprofile version posix");

/** `-c SCRIPT` is judged by what the script says, a file must be spelt out by the rule, input always asks. */
export const shell: Program = {
  options,
  read: ({ words }) => {
    const name = baseName(words[0]?.value ?? "");
    const read = readOptions(words, options);
    if (!knownShells.has(name)) return startsUnknown(`what \`${name}\` runs cannot be judged`);
    if (read.unknown !== undefined) return startsUnknown(`\`${read.unknown}\` changes how the shell starts`);
    if (findOption(read, "--version")) return { hatches: [], effect: "text" };
    const [first = words.length] = read.operands;
    const script = words[first];
    if (script === undefined || script.value === "-") return startsUnknown(runsInput.why);
    if (!findOption(read, "-c")) {
      const hatches = [hatch("it runs a script that was not read", script.value)];
      return { hatches, effect: "unknown", reads: new Set([first]) };
    }
    if (script.script === undefined) return startsUnknown("its script cannot be read");
    const isRewritten = script.script.script !== undefined && script.script.script === script.value;
    const hatches = isRewritten && read.operands.length === 1 ? [] : [hatch("its script is run as it stands")];
    return { hatches, effect: "unknown", scripts: [script], texts: new Set([first]) };
  },
};

function startsUnknown(why: string): ProgramReading {
  return { hatches: [runs(why)], effect: "unknown" };
}

/** Changes the folder of what follows. The target is looked at as a path. */
export const changeDirectory: Program = {
  read: ({ words: [, target, ...more] }) => {
    const isPlain = target?.kind === "static" && !target.value.startsWith("-") && more.length === 0;
    return { hatches: isPlain ? [] : [hatch("where it goes cannot be told")], effect: "read" };
  },
};

export const evaluate: Program = {
  read: ({ words }) => ({
    hatches: [hatch("it runs its arguments as a script")],
    effect: "text",
    scripts: words.slice(1, 2),
    startsUnknown: words.slice(1).some(({ kind }) => kind !== "static"),
  }),
};

/** `printf -v NAME` evaluates what stands in brackets of the name, and `%n` sets a variable. */
export const printf: Program = {
  read: ({ words }) => {
    const format = words[words[1]?.value === "--" ? 2 : 1];
    const isOption = format === words[1] && format?.value.startsWith("-v") === true;
    const isPlain = format === undefined || (format.kind === "static" && !hasCount.test(format.value.replaceAll("%%", "")));
    const why = isOption ? "`-v` sets a variable" : "its format can set a variable (`%n`)";
    const hatches = isPlain && !isOption ? [] : [runs(why)];
    return { hatches, effect: "text", takesAnything: true };
  },
};

/** `%n` with flags, widths and modifiers. */
const hasCount = /%[^a-z]*[hjlLtzq]*n/i;

/** `test -v NAME` evaluates what stands in brackets of the name. */
export const test: Program = {
  read: ({ words }) => {
    const evaluates = words.some(({ value }) => value === "-v" || value === "-R");
    return { hatches: evaluates ? [runs("`-v` evaluates a name")] : [], effect: "read" };
  },
};
