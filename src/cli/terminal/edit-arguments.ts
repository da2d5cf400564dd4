import { rmSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createNodeHost } from "../../host/node-host.ts";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import { show } from "../../ui/explain/phrases.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { escapeUnseen } from "./escape-unseen.ts";
import type { Terminal } from "./terminal.ts";

export interface EditOptions {
  /** The arguments as they were shown. */
  readonly args: JsonObject;
  /** The previous, invalid text. */
  readonly draft: string | undefined;
  readonly checkArgs: (args: JsonObject) => Promise<string | undefined>;
  readonly signal: AbortSignal;
}

/** Other arguments that fit; or why there are none, with the text to go on from. */
export type Edited = { readonly args: JsonObject } | { readonly problem: string; readonly draft?: string };

/** Has a person edit a call's arguments as JSON: in their editor, or on one line where `VISUAL` and `EDITOR` name none. */
export async function editArguments(terminal: Terminal, options: EditOptions): Promise<Edited> {
  const { args, draft } = options;
  const editor = editorOf(process.env);
  const text = draft ?? (editor ? `${escapeUnseen(JSON.stringify(args, undefined, 2))}\n` : escapeUnseen(JSON.stringify(args)));
  try {
    const written = editor
      ? await editFile(terminal, editor, { ...options, text })
      : await editLine(terminal, { ...options, text });
    return typeof written === "string" ? await readWritten(written, options) : written;
  } catch (thrown) {
    options.signal.throwIfAborted();
    return { problem: `The arguments could not be edited: ${show(errorMessage(thrown))}.` };
  }
}

/** The user's editor. npm sets `EDITOR` for what it starts, to vi where the user has none, and says by other variables which npm it is. */
function editorOf(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const [visual, editor] = [env["VISUAL"]?.trim(), env["EDITOR"]?.trim()];
  const isOfNpm = editor === "vi" && (env["npm_command"] ?? env["npm_execpath"]) !== undefined;
  return visual || (isOfNpm ? undefined : editor) || undefined;
}

interface Editing extends EditOptions {
  readonly text: string;
}

async function editLine(terminal: Terminal, { text, signal }: Editing): Promise<string | Edited> {
  const question = {
    text: "One line of JSON; an empty one, or Ctrl-C, goes back.\n",
    initial: text,
    cancelled: "",
    read: (line: string | undefined) => ({ answer: line ?? "" }),
  };
  const line = await terminal.ask(question, signal);
  return line.trim() === "" ? { problem: "The arguments stay as they are." } : line;
}

/** In a folder of the user's own, below the state folder: no program's tools should reach there. */
async function editFile(terminal: Terminal, editor: string, { text, signal }: Editing): Promise<string | Edited> {
  const { stateDirectory } = createNodeHost();
  await mkdir(stateDirectory, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(stateDirectory, "edit-"));
  // A signal ends the process before the editor has returned.
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once("exit", remove);
  try {
    const path = join(folder, "arguments.json");
    await writeFile(path, text, { mode: 0o600, flag: "wx" });
    const problem = await terminal.runEditor(editor, path, signal);
    return problem === undefined ? await readFile(path, "utf8") : { problem };
  } finally {
    process.off("exit", remove);
    remove();
  }
}

async function readWritten(text: string, { args: before, checkArgs }: EditOptions): Promise<Edited> {
  let args: unknown;
  try {
    args = JSON.parse(text);
  } catch (thrown) {
    return { problem: `This is no JSON: ${show(errorMessage(thrown))}. Nothing was approved; e edits it again.`, draft: text };
  }
  if (!isRecord(args))
    return { problem: "The arguments are one JSON object. Nothing was approved; e edits them again.", draft: text };
  if (JSON.stringify(args) === JSON.stringify(before)) return { problem: "The arguments stay as they are." };
  const problem = await checkArgs(args as JsonObject);
  if (problem === undefined) return { args: args as JsonObject };
  return { problem: `${show(problem)}. Nothing was approved; e edits them again.`, draft: text };
}
