import { Command, Option } from "commander";
import { escapeText } from "../../util/text/escape-text.ts";
import { version } from "../../version.ts";
import { asStarted, commandName } from "../command-name.ts";
import type { MapFlags } from "../commands/map.ts";
import { isDebugging } from "../debugging.ts";
import type { RunFlags } from "../run/run-flags.ts";
import { addTest } from "./add-test.ts";
import { addCalls, addCompare, addDrift, addKeep, addSoften, addStabilise } from "./boundary-commands.ts";
import { addAcp, addMcp } from "./door-commands.ts";
import { addCancel, addExecutor, addSubmit } from "./executor-commands.ts";
import { renderExitCodes } from "./exit-code-table.ts";
import { addExamples } from "./help-examples.ts";
import { explainUnknownFlag } from "./other-words.ts";
import { addApprovals, addFork, addReplay, addResume, addRuns, addUndo, addView } from "./recorded-commands.ts";
import { refuseRepeated } from "./repeated-options.ts";
import { addCompileOptions, addMapOptions, addRunOptions } from "./run-options.ts";
import {
  act,
  addCompletion,
  addConfig,
  addDocs,
  addInit,
  addKeys,
  addLanguageServer,
  addModels,
  addOAuth,
  addSchema,
  addTrust,
} from "./setup-commands.ts";
import { addStoreOption } from "./store-option.ts";

/** The result of the parser, and the arguments that it does not see. */
export interface CommandLine {
  exitCode: number;
  /** The arguments after `--`: always prompt. */
  readonly afterDashes: readonly string[] | undefined;
}

type Adder = (program: Command, line: CommandLine) => void;

/** Headings of the help, and below each the names of its commands, with what adds them. */
const groups: Readonly<Record<string, Readonly<Record<string, Adder>>>> = {
  "Run a program:": { run: addRun, chat: addChat, map: addMap, resume: addResume, "approvals approve deny": addApprovals },
  "Know a program before it runs:": { check: addCheck, explain: addExplain, verdict: addVerdict, test: addTest },
  "Look at what ran:": {
    runs: addRuns,
    calls: addCalls,
    compare: addCompare,
    stabilise: addStabilise,
    soften: addSoften,
    keep: addKeep,
    drift: addDrift,
    view: addView,
    replay: addReplay,
    fork: addFork,
    undo: addUndo,
  },
  "Run on many machines:": { submit: addSubmit, cancel: addCancel, executor: addExecutor },
  "Use a program from elsewhere:": { mcp: addMcp, acp: addAcp },
  "Set up:": { init: addInit, models: addModels, config: addConfig, keys: addKeys, oauth: addOAuth, trust: addTrust },
  "Learn and write:": { docs: addDocs, schema: addSchema, types: addTypes, lsp: addLanguageServer, completion: addCompletion },
};
const commandNames = Object.values(groups).flatMap((adders) => Object.keys(adders).flatMap((names) => names.split(" ")));

/**
 * The command line's grammar. Commands are imported when they run, so that `--help` pays for none of them. With words that ask for no
 * help it holds the command that they call, and no other: to build all takes longer than to read the words.
 */
export function createProgram(line: CommandLine, words: readonly string[] = []): Command {
  const program = new Command("llm-do")
    .usage("[run] [options] <target...> [prompt]")
    .description("Prompts that you can run, check, review and test like code.")
    .version(version)
    .enablePositionalOptions();
  const called = calledBy(words);
  for (const [heading, adders] of Object.entries(groups)) {
    program.commandsGroup(heading);
    for (const [names, add] of Object.entries(adders))
      if (called === undefined || names.split(" ").includes(called)) add(program, line);
  }
  program.helpCommand("help [command]", "display the help of a command");
  for (const command of withDescendants(program)) {
    const hasRules = command.options.some(({ long }) => long === "--approve");
    addExamples(command);
    addStoreOption(command);
    refuseRepeated(command);
    command
      .exitOverride()
      .showSuggestionAfterError()
      .configureHelp({ minWidthToWrap: 20, subcommandTerm: (sub) => sub.name() })
      .showHelpAfterError(`(${nameOf(command)} --help lists ${command.parent ? "what it takes" : "the commands and flags"})`)
      .configureOutput({
        outputError: (text, write) => write(show(asStarted(explainUnknownFlag(text.replace(/^error: /, "llm-do: "), hasRules)))),
      });
  }
  program.addHelpText("afterAll", ({ command }) => {
    if (command.parent) return `\nExit codes: \`${commandName()} --help\` lists them`;
    const codes = renderExitCodes(command.createHelp(), process.stdout.columns || 80);
    return `\nExit codes:\n${codes}`;
  });
  return program;
}

/** Undefined for words that may show the help of all commands. Words without a command belong to `run`. */
function calledBy(words: readonly string[]): string | undefined {
  const [first] = words;
  if (first === undefined || first === "help" || words.includes("--help") || words.includes("-h")) return undefined;
  return commandNames.includes(first) ? first : "run";
}

/** Words of the command line that are quoted do nothing to a terminal. */
function show(text: string): string {
  return escapeText(text, { keepNewlines: true, keepBackslashes: true });
}

/** As it is typed: `llm-do runs compare`. */
function nameOf(command: Command): string {
  return command.parent ? `${nameOf(command.parent)} ${command.name()}` : commandName();
}

/** A command and all commands below it. */
export function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}

const targetHelp = "a folder with a main.worker, a .worker file, or the name of a worker here or further up";

function addRun(program: Command, line: CommandLine): void {
  const run = program
    .command("run", { isDefault: true })
    .description("run a program; `llm-do TARGET [PROMPT]` is the same")
    .argument("<target>", `${targetHelp}; several files (.worker, .ts, .js): exactly these, and what they refer to`)
    .argument(
      "[prompt...]",
      "what to do, as one argument; `-` reads it from stdin, and so does no prompt where stdin is a pipe or a file; what follows `--` is prompt, whatever it looks like",
    )
    .usage("[options] <target...> [prompt]");
  addRunOptions(run).action(async (target: string, rest: readonly string[], flags: RunFlags) => {
    const { runCommand } = await import("../commands/run.ts");
    const words = { target, rest, afterDashes: line.afterDashes };
    line.exitCode = await runCommand(words, { ...flags, debug: isDebugging(flags) }, commandNames);
  });
}

function addChat(program: Command, line: CommandLine): void {
  const chat = program
    .command("chat")
    .description("hold a conversation with a program; `llm-do TARGET --chat` is the same")
    .argument("[target]", `${targetHelp}; default: .`)
    .argument("[message...]", "the first message, as one argument")
    .usage("[options] [target] [message]");
  addRunOptions(chat).action(async (target: string | undefined, rest: readonly string[], flags: RunFlags) => {
    const { runCommand } = await import("../commands/run.ts");
    await noteNamesake("chat");
    const words = { target: target ?? ".", rest, afterDashes: line.afterDashes };
    line.exitCode = await runCommand(words, { ...flags, chat: true, debug: isDebugging(flags) }, commandNames);
  });
}

function addMap(program: Command, line: CommandLine): void {
  const map = program
    .command("map")
    .description("run a program once for each row of a file; started again, it does only what is missing")
    .argument("<target>", targetHelp);
  addMapOptions(map).action(
    act(line, async () => {
      const { mapCommand } = await import("../commands/map.ts");
      return (target: string, flags: MapFlags) => mapCommand(target, { ...flags, verbose: 0, debug: isDebugging(flags) });
    }),
  );
}

/** Says how a program is meant that has the name of a command. */
async function noteNamesake(name: string): Promise<void> {
  const [{ existsSync }, { writeStderr }] = await Promise.all([import("node:fs"), import("../output.ts")]);
  const found = [`${name}/main.worker`, `${name}.worker`, `workers/${name}.worker`].find((path) => existsSync(path));
  if (found === undefined) return;
  const path = found.replace(/\/main\.worker$/, "");
  writeStderr(`llm-do: \`${name}\` is a command here; the program of this name is run by ${commandName()} ./${path}\n`);
}

function addCheck(program: Command, line: CommandLine): void {
  const check = program
    .command("check")
    .description("say what is wrong with a program, and run none of it")
    .argument("[target...]", `${targetHelp}; several files: exactly these; default: .`);
  addCompileOptions(check)
    .option("--trust", "import the program's code, and check what it exports")
    .option(
      "--headless",
      "say what a run that can ask nobody would be denied, and what would allow it; without --approve, 4 where a tool always asks",
    )
    .addOption(new Option("--format <format>", "how to print").choices(["text", "json", "sarif", "github"]).default("text"))
    .option("--json", "print JSON, as --format json does")
    .action(act(line, async () => (await import("../commands/check.ts")).checkCommand));
}

function addExplain(program: Command, line: CommandLine): void {
  const explain = program
    .command("explain")
    .description("show what a program is made of, what asks, and all that it could do; call no model")
    .argument("[target...]", `${targetHelp}; several files: exactly these; default: .`);
  addCompileOptions(explain)
    .option("--trust", "import the program's code, and show what it exports")
    .addOption(new Option("--format <format>", "how to print").choices(["text", "context", "json", "mermaid"]).default("text"))
    .option("--json", "print JSON, as --format json does")
    .action(act(line, async () => (await import("../commands/explain.ts")).explainCommand));
}

function addTypes(program: Command, line: CommandLine): void {
  program
    .command("types")
    .description("write llm-do.d.ts beside a program: the types of its workers and tools, for the program's code")
    .argument("[target...]", `${targetHelp}; several files: exactly these; default: .`)
    .option("--entry <name>", "the worker or code that starts (tools.ts:main); what it reaches is written")
    .option("--trust", "import the program's code, whose schemas are not known otherwise")
    .option("--check", "write nothing, and end with 1 where the file is missing or old")
    .action(act(line, async () => (await import("../commands/boundary/types.ts")).typesCommand));
}

function addVerdict(program: Command, line: CommandLine): void {
  const verdict = program
    .command("verdict")
    .description("say what the gate would say of a call, and why; make no call")
    .argument("<target>", targetHelp)
    .argument("<tool>", "`tool` of the entry, or `worker/tool`; `-` where each line of stdin says it")
    .argument("[args]", "the arguments as JSON; `-` reads one { tool, args } a line, and prints one { verdict, why } a line");
  addCompileOptions(verdict)
    .option("--trust", "import the program's code, whose tools are not known otherwise")
    .option("--json", "print JSON")
    .action(act(line, async () => (await import("../commands/verdict.ts")).verdictCommand));
}
