import { getOwn } from "../../util/get-own.ts";

/** Flags of older versions and of similar tools, with what to write here. */
const otherFlags: Readonly<Record<string, string>> = {
  "--strict": "it is now --reject-all",
  "--no-approve": "write --reject-all",
  "--yes": "write --approve 'worker/tool(pattern)' for calls that you know, or --approve-all",
  "--yolo": "write --approve 'worker/tool(pattern)' for calls that you know, or --approve-all",
  "-y": "write --approve 'worker/tool(pattern)' for calls that you know, or --approve-all",
  "-e": "write --entry",
  "-s": "write --set key=value",
  "--attachments": "write --attachment, once for each file",
  "--file": "write --attachment",
  "-f": "write --attachment",
  "--registry": "pass the program's folder as the target: llm-do FOLDER",
  "--creation-defaults": "write them under `generated_workers` in llm-do.yaml",
  "--all-tools": "name the exports of tools.ts under `toolsets` of the worker",
  "--init-python": "tools are TypeScript: export them from tools.ts",
  "--prompt": 'the prompt follows the program: llm-do . "what to do"',
  "-p": 'the prompt follows the program: llm-do . "what to do"',
  "--message": 'the prompt follows the program: llm-do . "what to do"',
  "--system": "instructions stand in the worker file, below its frontmatter",
  "--output-format": "write --json",
  "--resume": "write llm-do resume, or -c to go on with the conversation",
  "--max-turns": "write --limit turns=NUMBER",
  "--timeout": "write --limit seconds=NUMBER",
  "--stream": "write -vv, which shows text as it comes",
  "--max-cost": "write --limit usd=NUMBER",
  "--budget": "write --limit usd=NUMBER",
  "--max-tokens": "write --limit tokens=NUMBER, or --set model_settings.max_output_tokens=NUMBER",
  "--temperature": "write --set model_settings.temperature=NUMBER",
  "--top-p": "write --set model_settings.top_p=NUMBER",
  "--attach": "write --attachment",
  "--image": "write --attachment",
  "--resume-last": "write llm-do resume",
  "--auto-approve": "write --approve 'worker/tool(pattern)' for calls that you know, or --approve-all",
  "--force": "write --approve 'worker/tool(pattern)' for calls that you know, or --approve-all",
  "--allow": "write --approve 'worker/tool(pattern)'",
  "--allowed-tools": "write --approve 'worker/tool(pattern)'",
  "--plain": "`run` and `chat` alone draw: this command prints lines",
  "--journal": "runs are recorded unless --no-journal is given",
};

/** Commands of similar tools. */
const otherCommands: Readonly<Record<string, string>> = {
  new: "init",
  create: "init",
  validate: "check",
  lint: "check",
  list: "runs list",
  logs: "runs list",
  history: "runs list",
  show: "runs show",
  ls: "runs list",
  ps: "runs list",
  version: "--version",
  eval: "test",
  continue: "resume",
};

export function findOtherCommand(name: string): string | undefined {
  return getOwn(otherCommands, name);
}

/**
 * Puts what to write in place of a flag into the parser's message, where the flag is known elsewhere. `takesRules`: the command has
 * `--approve`.
 */
export function explainUnknownFlag(message: string, takesRules: boolean): string {
  const [whole, flag = ""] = /unknown option '(-[^'=]*)(?:=[^']*)?'\n(?:\(Did you mean .*\)\n)?/.exec(message) ?? [];
  const isText = /^-+\s|\s.*\s/.test(flag);
  const note = isText ? `a prompt that begins with \`-\` follows \`--\`: llm-do . -- "${flag}"` : getOwn(otherFlags, flag);
  return whole === undefined || note === undefined || (!takesRules && note.startsWith("write --approve"))
    ? message
    : message.replace(whole, () => `unknown option '${flag}'; ${note}\n`);
}
