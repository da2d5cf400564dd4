// Writes docs/cli.md from the grammar of the command line. With --check: says whether it is up to date, and writes nothing.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Argument, Command, Option } from "commander";
import { exitCodes } from "../src/cli/exit-codes.ts";
import { exitCodeMeanings } from "../src/cli/grammar/exit-code-table.ts";
import { commandWords, examples } from "../src/cli/grammar/help-examples.ts";
import { createProgram, withDescendants } from "../src/cli/grammar/program.ts";

const intro = `# The command line

\`llm-do TARGET\` runs a program: a folder with a \`main.worker\`, a \`.worker\` file, or the name of a worker here or further up. It is
short for \`llm-do run TARGET\`. \`llm-do TARGET --help\` shows the program's inputs, its output and what it may do. This page is made from the grammar of the command line by \`scripts/make-cli-docs.ts\`.

\`\`\`sh
llm-do init words
llm-do words --help
llm-do words "Which file is the longest?" --model anthropic:claude-sonnet-4-5
\`\`\``;

const conventions = `## stdout, stderr and stdin

stdout gets the result and nothing else: the output of the entry (text as it is, a value with a schema as JSON), or with \`--json\` one
object. Everything else goes to stderr: the account of \`-v\`, questions, diagnostics, and why a run failed. Where stdout is a
terminal, control characters in the output are shown there, as \`\\u{1B}\`, and not obeyed; a pipe or a file gets them as they are.

The object of \`--json\` has \`v\` (1), \`runId\`, \`output\`, \`stopReason\` (\`done\`, \`limit\`, \`cut\`, \`denied\`, \`aborted\`, \`failed\`,
\`suspended\`, which has the \`questions\` that the run waits for),
\`usage\`, \`artifacts\`, \`denied\` and \`exitCode\`; \`reason\` says which limit, or [what cut the answer off](limits.md#endings), and
\`error\` (\`code\`, \`message\`, for a program with mistakes also \`diagnostics\`) what failed. \`runId\` and \`usage\` are null where the run
did not begin. Mistakes on the command line itself are told on stderr alone. \`llm-do schema result\` prints the JSON
Schema of the object, \`llm-do schema event\` that of a line of \`--events\`. Members may be added to version 1: ignore those that you do
not know.

At a terminal a run is drawn by [the terminal UI](tui.md). Where it prints lines (\`--plain\`, \`-v\`, \`--headless\` and others) and
stdout is a terminal, the entry's text is written there as it comes, and not again as the result; an answer that begins anew after a
broken stream says so. Structured output, and the text of other workers, is not streamed. Where stdout is no terminal it gets the result
alone, and no answer is asked for as a stream. While a run goes on for more than two seconds, the last line of stderr says what it does,
if stderr is a terminal; \`--plain\`, \`-q\`, \`-v\` and \`CI\` leave the line out.

With \`-o FILE\` the result goes to the file, whole or not at all, and stdout stays empty; where it cannot be written after all, it goes
to stdout, and the exit code is 1. \`--events\` writes every event as one line of JSON, to stderr or with \`--events=FILE\` to a file that
only you can read: with \`v\` (1), \`type\`, \`runId\`, \`callPath\`, \`depth\` and \`time\`; [Events](events.md) has the fields of each. \`--dry-run\` and \`llm-do explain\` are told of in
[What a program could do](explain.md).

stdin is the prompt for \`-\`, or where there is no prompt and stdin is a pipe or a file. It is never an answer to a question:
\`yes | llm-do …\` approves nothing.

A prompt is never mistaken for a file. What follows \`--\` is prompt. Otherwise an argument is a file only where it exists and ends in the
suffix of a source (\`.worker\`, \`.ts\`, \`.js\`, \`.mjs\`, or the name \`llm-do.yaml\`).

\`\`\`sh
llm-do main.worker "what to pay attention to"
llm-do main.worker helpers/summary.worker tools.ts -- "what to pay attention to"
llm-do main.worker - < task.txt
\`\`\`

## Input

A prompt fills the field \`input\` of the entry's input, or else its only required string. \`-i key=value\` fills a field by its name, and
the entry's schema says what becomes of the text: numbers and \`true\` or \`false\` as they are, JSON for lists and objects, any other
text as text. A list also takes one item for each \`-i\`. \`@FILE\` stands for what a file holds, \`@-\` for stdin, and \`@@\` begins a text
that begins with \`@\`. \`--input-json\` gives all fields at once; a field of \`-i\` comes before the same one of \`--input-json\`. The
prompt and a flag for one field, and two that read stdin, are mistakes. Where \`--input-json\` is given, or \`-i\` has the prompt's
field, stdin is read only by those who name it.

\`\`\`sh
llm-do review.worker -i count=3 -i draft=true -i tags=news -i tags=sports -i text=@article.md
llm-do review.worker --input-json @input.json -i count=5
git diff | llm-do review.worker -i tone=calm
\`\`\`

## Scopes

\`--scope name=FOLDER\` gives a declared scope another folder for a run, relative to the working directory: in every worker that the
entry reaches and that declares a scope of this name, with its own rights (\`mode\`, \`suffixes\`, approvals) as they are declared. \`.\`
names the scope of workers that declare none. A name that nobody declares is a mistake. The folder is your choice, so none outside of the
program needs trust.

\`\`\`sh
llm-do reviewer.worker --scope source=~/site --scope reports=./reviews
llm-do explain reviewer.worker --scope source=~/site
\`\`\`

## Questions

A call that needs approval is asked for at the terminal: the question shows what would happen, and takes \`a\` (approve once), \`r\`
(approve, and the same call again in this run), \`1\` to \`3\` (approve, and allow a rule for this run), \`e\` (edit the arguments), \`d\` (deny; what follows is a note that the model sees), \`l\` (list
what was approved for this run; \`l 2\` revokes the second) or \`s\` (stop the run).
\`?\` says what each key does. Where a long preview was cut, \`m\` shows more of it, otherwise the question again. An empty line is no answer, and keys that were pressed before the question was
there are dropped. Where stdin is not a terminal, the question goes to the terminal that controls the process. Without one, and with
\`--headless\`, what would be asked is denied; the run ends with 4 and lists what it needed, and the configuration that would allow
it. \`--approval-timeout\` denies what nobody answers in time. [Approval](approval.md) tells the whole of it.

## Trust

Code of a program (\`tools.ts\`, a script that plays a model) runs with your rights. Before any of it is imported, the folder must be
trusted; so it must be before a program runs commands, reaches beyond its folder by a scope or a package, or
has its models reached at an address of its own (\`providers\` of \`llm-do.yaml\`). \`--trust\` trusts it for one run, and so
does the answer \`yes\` at the terminal; \`always\` trusts it for good. The question gives the reasons that apply, one a line; no answer to it
is one to the question about a call, and none of those is one to it. Without a terminal and without \`--trust\` the exit code is 2. A script that
you name yourself, with \`--model\` or \`LLM_DO_MODEL\`, needs no trust.

What lies beyond the folder is decided on real paths: links are followed first. A scope whose root is a link out of the folder, or lies
behind one, needs trust like a root that is written as \`..\`, and so does a package that lies behind such a link or further up. Trust
for good names where a root really leads: if the link is pointed elsewhere, the question comes again. A root that leads elsewhere when
a run opens it than when the program was compiled is refused. Worker files, the manifest, templates, fragments, schemas and the code
that they refer to are refused where they are links out of the folder. What that code imports may lie anywhere, and is named by its real path.

Trust for good is given for what the program can do at that time: its code files, the packages that these load, by name, version and
real path, the variables of the environment that its configuration takes, and for each worker its scopes, its tools with what
happens to their calls, the rules of its shell with the paths that output may go to, whether isolation is required, its limits and its
attachments, the models that its files name, and where they are reached; also the limits, the rules and the mode of the manifest. What the files hold is
[kept from the tools of the program](verdicts.md#files-of-the-program), and not compared. Edits that let it do no more, and those that let it
do less, ask nothing. When it can do more, the question comes again and says what is new, and until it is answered nothing of the
program is imported. What the code itself lets models do (tools that it pre-approves, workers that it calls) is known only after it was
imported, and is compared then, before the run begins. Several entries of one folder are trusted one after another, and none makes the
others be forgotten. What \`--model\` and the like name is yours and is not counted; what \`--set\` says counts as the program's.

\`llm-do check\` and \`llm-do explain\` ask nothing: without trust they read a program and import none of it.

Trusted folders are kept by their real path in \`trust.json\` in the state folder. \`llm-do trust list\` shows them, and
\`llm-do trust revoke FOLDER\` takes one back.

## What is told

stdout has the result alone. \`-v\` prints a line for each call, question and answer on stderr, \`-vv\` also the text as it comes, and
\`-q\` nothing at all.

\`--debug\`, or \`LLM_DO_DEBUG=1\`, tells each call in full: its model and where that came from, its input, the instructions and
prompt that were made of it, fragments and attachments, the arguments and results of the tools it calls, and the stacks of what is
thrown. \`debug: true\` in \`llm-do.yaml\` does the same for a program, and in a worker for its calls alone. Secret values are left out of
it as they are everywhere; what files and models say is not.

## Runs

Every run is recorded in your state folder, in \`runs/PROGRAM/RUN\`, or in the folder that \`--store\` names; [the page about
runs](runs.md) tells what lies there. \`llm-do runs list\` without a target lists your latest runs, wherever their programs are.

\`last\`, and a missing id, mean the newest run of the program in this folder or the nearest one above it to which the command applies.
Where there is no program, commands that only look take the newest run of all, and those that change something end with 2 and list your
runs to choose from.

With \`--json\` it prints an object with \`v\` (1) and \`runs\`. A run has \`runId\`, \`folder\` (the program's), \`outcome\` (\`done\`, \`limit\`,
\`cut\`, \`denied\`, \`aborted\`, \`failed\`; \`unfinished\`: killed or still running; \`empty\`, \`unreadable\` or, of an older version, \`old\`)
and \`summary\` (one line); where its journal has them also \`program\`, \`entry\`, \`startedAt\` (ISO 8601), \`milliseconds\`, \`model\` (the
entry's), \`prompt\` (its first 100 characters), [\`usage\`](events.md#usage-1) with the cost in \`usd\`, and \`denied\` (a number).

\`\`\`sh
llm-do runs list
llm-do runs list . -n 5 --json
llm-do runs show last
\`\`\`

## Completion

Bash, zsh and fish complete commands, flags, programs, workers, fields of the input, models and runs:

\`\`\`sh
eval "$(llm-do completion bash)"
eval "$(llm-do completion zsh)"
llm-do completion fish > ~/.config/fish/completions/llm-do.fish
\`\`\`

The first line belongs into \`~/.bashrc\`; the second into \`~/.zshrc\`, below \`compinit\`. \`npx llm-do\` is not completed: the shell sees
\`npx\`. A program is read for it and not run.

## Signals

Ctrl-C (SIGINT) and SIGTERM stop the run in good order: model requests and calls are aborted, and the journal says how far it got. A
second Ctrl-C ends the process at once. SIGHUP, the end of the terminal, works as SIGTERM does.

What is under way is not waited for until it is done. A request is cut off. A command gets SIGTERM, and SIGKILL two seconds later, and the run waits
for its end. A tool in code is told by the \`signal\` of its runtime and left alone: what it does after that stands in no record. \`resume\`
looks, or asks, [before such a call is made again](resume.md#what-it-promises).

Code of the program can loop without a pause, so that no signal and no timer reaches the run. A second thread then ends the process: at
the second Ctrl-C, two seconds after SIGTERM or SIGHUP, and two seconds after the run's limit of \`seconds\`. In the terminal UI and at
a question it hears Ctrl-C once the code has run for a second or two. The exit code is that of the signal or the limit. Commands that run
are ended, the terminal is restored, and the journal of the run has no end, as after a crash. Code that waits in the system, as
\`execSync\` does, is killed with its process (137).

\`--limit seconds\` also holds for the time that the program's modules take to load.

## Environment

| variable | means |
|---|---|
| \`LLM_DO_MODEL\` | the model of every worker for which nothing else names one |
| \`LLM_DO_DEBUG\` | as \`--debug\`, unless it is empty, \`0\` or \`false\` |
| \`LLM_DO_PLAIN\` | as \`--plain\`, unless it is empty, \`0\` or \`false\` |
| \`LLM_DO_CONFIG_DIR\` | the folder of your [configuration](models.md#your-configuration) |
| \`LLM_DO_STATE_DIR\` | the state folder: records of runs, trusted folders, keys, what was typed in conversations, and compiled code, which may be deleted |
| \`LLM_DO_STORE\` | the records in the place of the state folder's, as \`--store\` names them: a folder, or \`postgres://…\`, which programs do not see |
| \`LLM_DO_STORE_KEY\` | the key that seals secrets and earlier contents of files in a store in PostgreSQL |
| \`LLM_DO_HOOK_KEY\` | the key with which an executor signs what it posts to the \`hooks\` of your configuration |
| \`VISUAL\`, \`EDITOR\` | the editor for the arguments of a call, at a question |
| \`NO_COLOR\` | questions without colours |`;

/** The whole page. */
export function renderCliPage(): string {
  const program = createProgram({ exitCode: 0, afterDashes: undefined });
  const [, ...commands] = withDescendants(program).filter((command) => command.name() !== "help");
  const sections = commands.filter((command) => command.commands.length === 0).map(renderCommand);
  return `${[intro, ...sections, conventions, renderExitCodes()].join("\n\n")}\n`;
}

function renderCommand(command: Command): string {
  const { name, usage } = { name: commandWords(command), usage: command.usage() };
  return [
    `## \`${name}\``,
    `\`${name} ${usage}\``,
    `${capitalize(command.description())}.`,
    ...renderArguments(command.registeredArguments),
    ...renderOptions(command.options),
    ...renderExamples(name),
  ].join("\n\n");
}

/** Renders the examples of a command; those of `llm-do` itself are in the README. */
function renderExamples(name: string): string[] {
  const lines = (examples[name] ?? []).map(([line, effect]) => (effect === undefined ? line : `${line}    # ${effect}`));
  return lines.length === 0 ? [] : [["```sh", ...lines, "```"].join("\n")];
}

function renderArguments(args: readonly Argument[]): string[] {
  if (args.length === 0) return [];
  const rows = args.map((argument) => {
    const notes = [argument.description, ...choicesOf(argument), ...defaultOf(argument)].join("; ");
    return `| \`${argument.name()}\` | ${argument.required ? "required" : ""} | ${escapeCell(notes)} |`;
  });
  return [["| argument | | |", "|---|---|---|", ...rows].join("\n")];
}

function renderOptions(options: readonly Option[]): string[] {
  if (options.length === 0) return [];
  const rows = options.map((option) => {
    const notes = [option.description, ...choicesOf(option), ...defaultOf(option)].join("; ");
    return `| \`${option.flags}\` | ${escapeCell(notes)} |`;
  });
  return [["| flag | |", "|---|---|", ...rows].join("\n")];
}

function choicesOf({ argChoices }: { readonly argChoices?: readonly string[] | undefined }): string[] {
  return argChoices ? [`one of ${argChoices.map((choice) => `\`${choice}\``).join(", ")}`] : [];
}

function defaultOf({ defaultValue }: { readonly defaultValue?: unknown }): string[] {
  return typeof defaultValue === "string" ? [`default: \`${defaultValue}\``] : [];
}

function renderExitCodes(): string {
  const rows = Object.entries(exitCodes).map(
    ([name, code]) => `| ${code} | ${exitCodeMeanings[name as keyof typeof exitCodes]} |`,
  );
  return ["## Exit codes", ["| code | means |", "|---|---|", ...rows].join("\n")].join("\n\n");
}

function escapeCell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const file = join(import.meta.dirname, "../docs/cli.md");
  const page = renderCliPage();
  if (!process.argv.includes("--check")) writeFileSync(file, page);
  else if (readFileSync(file, "utf8") !== page) {
    console.log("docs/cli.md is out of date; run node scripts/make-cli-docs.ts");
    process.exitCode = 1;
  }
}
