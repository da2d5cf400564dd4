import type { ApproverOptions } from "../../approval/policy.ts";
import { listPrices, priceTable } from "../../front/llm-do.ts";
import type { Message } from "../../protocol/message.ts";
import { counted } from "../../ui/explain/phrases.ts";
import { renderExplanation } from "../../ui/explain/render-explanation.ts";
import { renderListedRun } from "../../ui/records/list-run.ts";
import { renderUsage } from "../../ui/render-usage.ts";
import { modelLabel } from "../../ui/text/model-label.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import { describeRuns } from "../commands/records/runs.ts";
import type { OpenProgram } from "../programs/open-program.ts";
import { showMemory } from "../terminal/terminal-approver.ts";
import type { Surface } from "./plain-chat.ts";

/** The state that commands look at and change. */
export interface Session {
  readonly tui: Surface;
  readonly target: string;
  readonly unisolated: boolean;
  program(): OpenProgram;
  /** The conversation so far; undefined outside of a chat. */
  history(): readonly Message[] | undefined;
  /** That of the last question. */
  memory(): ApproverOptions["memory"] | undefined;
  /** Takes another model for the entry from the next message on. Resolves with what to say. */
  useModel(model: string): Promise<string>;
  /** Forgets the conversation. False, and nothing is forgotten, while a run goes on with it. */
  clear(): boolean;
}

interface SlashCommand {
  readonly takes: string;
  readonly help: string;
  readonly run: (session: Session, word: string) => string | Promise<string>;
}

/** The commands of the terminal UI; `/help` and docs/tui.md list them. */
export const slashCommands: Readonly<Record<string, SlashCommand>> = {
  help: { takes: "", help: "lists the commands and keys", run: () => help() },
  explain: { takes: "", help: "shows what the program is made of, what asks, and all that it could do", run: explain },
  approvals: { takes: "[n]", help: "lists what is approved for this run; a number revokes that one", run: listApprovals },
  usage: { takes: "", help: "shows requests, tokens and dollars so far", run: ({ tui }) => renderUsage(tui.numbers.usage) },
  context: { takes: "", help: "shows how long the conversation is", run: describeContext },
  model: {
    takes: "[provider:name]",
    help: "shows the entry's model, or takes another one for the next message",
    run: chooseModel,
  },
  runs: { takes: "", help: "lists the last runs of the program", run: listRuns },
  clear: { takes: "", help: "forgets the conversation", run: clear },
  exit: { takes: "", help: "leaves; a run that goes on is stopped", run: leave },
};

const keys = [
  "Enter  sends; Alt-Enter, Ctrl-J, or a \\ before Enter begins a new line",
  "Up, Down  recall earlier lines",
  "Tab  completes a command, or a file after @",
  "Ctrl-O  shows calls opened, with arguments, diffs and results, or in one line",
  "Ctrl-C  stops the run, and at once when pressed again; without a run it leaves",
  "Ctrl-Z  suspends; fg goes on",
];

/** Executes a line that begins with `/`. Resolves with what to print. */
export async function runSlashCommand(line: string, session: Session): Promise<string> {
  const [name = "", ...words] = line.slice(1).split(/\s+/);
  const command = Object.hasOwn(slashCommands, name) ? slashCommands[name] : undefined;
  if (!command) return `There is no /${name}; ${didYouMean(name, Object.keys(slashCommands)) ?? "/help lists the commands"}`;
  return command.run(session, words.join(" "));
}

function help(): string {
  const commands = Object.entries(slashCommands).map(
    ([name, { takes, help }]) => `/${name}${takes === "" ? "" : ` ${takes}`}  ${help}`,
  );
  return [...commands, "", ...keys].join("\n");
}

async function explain({ tui, program, unisolated }: Session): Promise<string> {
  const { outline } = program();
  const prices = { of: await listPrices(outline.ceiling.models), date: priceTable.date };
  return renderExplanation(outline, { columns: tui.terminal.columns, prices, unisolated });
}

function listApprovals({ memory, tui }: Session, number: string): string {
  const known = memory();
  return known ? showMemory(number, known, tui.terminal.columns) : "Nothing is approved for this run.";
}

function describeContext({ tui, history }: Session): string {
  const messages = history();
  const { contextTokens } = tui.numbers;
  const last = contextTokens > 0 ? `The last request had ${counted(contextTokens, "input token")}.` : "No request was made yet.";
  if (!messages) return last;
  const files = messages.flatMap(({ parts }) => parts.filter(({ type }) => type === "file")).length;
  return `${last} The conversation has ${counted(messages.length, "message")} and ${counted(files, "file")}; /clear forgets it.`;
}

function chooseModel({ program, history, useModel }: Session, model: string): string | Promise<string> {
  const { entry } = program().program;
  if (model === "") return entry.kind === "worker" ? modelLabel(entry.worker.model?.id ?? "none") : "The entry is code.";
  return history() ? useModel(model) : "A run keeps its model; --chat takes another one between two messages.";
}

async function listRuns({ target, tui }: Session): Promise<string> {
  const [runs] = await describeRuns(target, 10);
  return runs.length === 0 ? "No runs yet." : runs.map((run) => renderListedRun(run, tui.terminal.columns)).join("");
}

function clear({ history, clear: forget }: Session): string {
  if (!history()) return "There is no conversation to forget.";
  return forget()
    ? "The conversation is forgotten; the next message begins a new one."
    : "A run goes on with the conversation; forget it when the run has ended.";
}

function leave({ tui }: Session): string {
  tui.leave();
  return "";
}
