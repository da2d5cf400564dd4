import { type CallJudge, type JudgedCall, type Judgement, judgeCalls } from "../../front/llm-do.ts";
import { isRecord, type JsonValue } from "../../protocol/json.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { escapeText } from "../../util/text/escape-text.ts";
import { exitCodes, UsageError } from "../exit-codes.ts";
import { renderJsonLine, writeResult } from "../output.ts";
import { type CompileFlags, openProgram } from "../programs/open-program.ts";

export interface VerdictFlags extends CompileFlags {
  readonly json?: boolean;
}

/**
 * `llm-do verdict TARGET TOOL [ARGS]`: what the gate would say of a call, which is not made. `tool` is `-` where each line of stdin names it;
 * `args` is JSON, or `-` for a call a line on stdin.
 */
export async function verdictCommand(
  target: string,
  tool: string,
  args: string | undefined,
  flags: VerdictFlags,
): Promise<number> {
  const { program } = await openProgram([target], flags, {});
  const judge = await judgeCalls({ program, unisolated: flags.unisolated === true });
  try {
    if (args === "-" || tool === "-") return await judgeLines(judge, tool === "-" ? undefined : tool);
    const judgement = await judge.judge({ ...readTool(tool), args: readArgs(args ?? "{}") });
    await writeResult(flags.json ? renderJsonLine(toLine(judgement)) : renderJudgement(judgement));
    return exitCodes.done;
  } finally {
    await judge.close();
  }
}

/** One answer for each line, in order, as they come; a line that is no call is answered too, and told by the exit code. */
async function judgeLines(judge: CallJudge, tool: string | undefined): Promise<number> {
  let exitCode: number = exitCodes.done;
  for await (const line of readLines(process.stdin)) {
    if (line.trim() === "") continue;
    const answer = await judgeLine(judge, line, tool).catch((thrown: unknown) => {
      if (!(thrown instanceof UsageError)) throw thrown;
      exitCode = exitCodes.usage;
      return { verdict: "refused", why: thrown.message };
    });
    await writeResult(renderJsonLine(answer));
  }
  return exitCode;
}

/** A line ends with a line feed alone: U+2028 can stand in a text of JSON, where `node:readline` would end the line. */
async function* readLines(stream: NodeJS.ReadStream): AsyncGenerator<string> {
  let held = "";
  stream.setEncoding("utf8");
  for await (const chunk of stream) {
    const lines = `${held}${chunk}`.split("\n");
    held = lines.pop() ?? "";
    yield* lines;
  }
  yield held;
}

async function judgeLine(judge: CallJudge, line: string, standard: string | undefined): Promise<object> {
  const call = readJson(line, "the line");
  const wanted = standard === undefined ? '{ "tool": "…", "args": {…} }' : '{ "args": {…} }';
  if (!isRecord(call)) throw new UsageError(`the line is no object: write ${wanted}`);
  const { tool = standard, args = {} } = call;
  if (typeof tool !== "string") throw new UsageError(`the line names no tool: write ${wanted}`);
  return toLine(await judge.judge({ ...readTool(tool), args: args as JsonValue }));
}

/** The last slash is the one before the tool: an id of a worker can have slashes. */
function readTool(text: string): Pick<JudgedCall, "worker" | "tool"> {
  const slash = text.lastIndexOf("/");
  return slash === -1 ? { tool: text } : { worker: text.slice(0, slash), tool: text.slice(slash + 1) };
}

function readArgs(text: string): JsonValue {
  return readJson(text, "the arguments") as JsonValue;
}

function readJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (thrown) {
    throw new UsageError(`${what} cannot be read as JSON: ${errorMessage(thrown)}`);
  }
}

function toLine(judgement: Judgement): object {
  const { type: verdict, why } = judgement;
  return judgement.type === "refused" ? { verdict, why, error: judgement.error.type } : { verdict, why };
}

function renderJudgement(judgement: Judgement): string {
  const hint = judgement.type === "refused" ? judgement.error.hint : undefined;
  const lines = [`${judgement.type}: ${judgement.why}`, ...(hint === undefined ? [] : [`  ${hint}`])];
  return lines.map((line) => `${escapeText(line, { keepBackslashes: true })}\n`).join("");
}
