import { baseName, knownShells } from "../parse/scripts.ts";
import { optionTable, readOptions } from "./options.ts";
import { hatch, type ReadProgram } from "./program.ts";

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

/** What runs a program from its input when it is given none: harmless there by no rule. */
export function readInterpreter(name: string): ReadProgram {
  return ({ words, hasInput }) => {
    const [, first] = words;
    const isInput = words.slice(1).some(({ value }) => value === "-" || value.startsWith("/dev/") || value.startsWith("/proc/"));
    const isCode = first !== undefined && codeOptions.get(name)?.test(first.value) === true;
    const isScript = first?.kind === "static" && !first.value.startsWith("-") && name !== "deno" && name !== "bun";
    // With an input, only what says at once where its program is does not take it from there.
    const runsInput = first === undefined || isInput || (hasInput && !isCode && !isScript);
    const script = words.findIndex(({ value }, index) => index > 0 && !value.startsWith("-"));
    const reads = script === -1 ? {} : { reads: new Set([script]) };
    return { hatches: runsInput ? [hatch("it runs what it is given as input")] : [], effect: "unknown", ...reads };
  };
}

export const shellOptions = optionTable("c e u x f n v o= norc noprofile version posix");

/** A shell: `-c SCRIPT` is judged by what the script says, a file must be spelt out by the rule, input always asks. */
export const readShell: ReadProgram = ({ words }) => {
  const name = baseName(words[0]?.value ?? "");
  const { options, operands, unknown } = readOptions(words, shellOptions);
  if (!knownShells.has(name))
    return { hatches: [hatch(`what \`${name}\` runs cannot be judged`)], effect: "unknown", startsUnknown: true };
  if (unknown !== undefined)
    return { hatches: [hatch(`\`${unknown}\` changes how the shell starts`)], effect: "unknown", startsUnknown: true };
  if (options.some(({ name: one }) => one === "--version")) return { hatches: [], effect: "text" };
  const [first] = operands;
  const script = first === undefined ? undefined : words[first];
  if (script === undefined || script.value === "-")
    return { hatches: [hatch("it runs what it is given as input")], effect: "unknown", startsUnknown: true };
  const isInline = options.some(({ name: one }) => one === "-c");
  if (!isInline)
    return {
      hatches: [hatch("it runs a script that nobody has read", script.value)],
      effect: "unknown",
      reads: new Set([first ?? 0]),
    };
  if (script.script === undefined)
    return { hatches: [hatch("its script cannot be read")], effect: "unknown", startsUnknown: true };
  const isRewritten = script.script.script !== undefined && script.script.script === script.value;
  const hatches = isRewritten && operands.length === 1 ? [] : [hatch("its script is run as it stands")];
  return { hatches, effect: "unknown", scripts: [script], texts: new Set([first ?? 0]) };
};

/** They run programs, load code and write files: functions of sqlite3, commands of mysql and duckdb, `COPY … TO PROGRAM`. */
const databaseDangers: readonly RegExp[] = [
  /\b(?:edit|load_extension|fts3_tokenizer|writefile|readfile|to\s+program|from\s+program)\b/i,
  /(?:^|[;\n])\s*(?:system|source|tee|pager|install|load)\b/i,
  /^-(?:-?(?:cmd|pager|tee|output|log-file)|[oL])/,
];

/** Database shells obey commands of their own. */
export const readDatabaseShell: ReadProgram = (start) => {
  const obeys = start.words
    .slice(1)
    .some(
      ({ value }) =>
        value.startsWith(".") ||
        value.includes("\\") ||
        value.startsWith("-init") ||
        value.startsWith("-f") ||
        value.startsWith("--file") ||
        databaseDangers.some((danger) => danger.test(value)),
    );
  const hatches = [];
  if (start.hasInput) hatches.push(hatch("it runs what it is given as input"));
  if (obeys) hatches.push(hatch("commands of its own can run programs"));
  return { hatches, effect: "unknown" };
};
