import type { Command } from "commander";

type Example = readonly [line: string, effect?: string];

/** Lines that show a command at work, by its words. `docs/cli.md` has them, too. */
export const examples: Readonly<Record<string, readonly Example[]>> = {
  "llm-do": [
    ["llm-do init mine", "make a small program that runs at once"],
    ['llm-do main.worker "what to pay attention to"', "run a program"],
    ["llm-do examples/pitchdeck_eval --help", "a program's inputs, and what it may do"],
    ["llm-do run --help", "all flags of a run"],
    ["llm-do docs first-steps", "from an empty folder to a program of your own"],
  ],
  "llm-do run": [
    ['llm-do . "what to pay attention to" --model anthropic:claude-sonnet-4-5'],
    ["git diff | llm-do review.worker -i tone=calm -v", "the prompt from a pipe, calls on stderr"],
    ["llm-do . --approve 'main/write_file(out/*)' --limit usd=0.50 --headless", "unattended"],
    ["llm-do . --chat", "a conversation"],
    ['llm-do . -c "and in French?"', "go on with the last run"],
    ["llm-do . --dry-run", "the first request, which its model is not sent"],
  ],
  "llm-do chat": [["llm-do chat"], ["llm-do chat . -m anthropic:claude-sonnet-4-5"]],
  "llm-do map": [
    ["llm-do map . --inputs rows.jsonl --out results.jsonl --usd 5"],
    ["llm-do map . --inputs rows.csv --parallel 5 --hold > results.jsonl", "what asks waits; approve, and start again"],
  ],
  "llm-do check": [
    ["llm-do check", "the program of this folder"],
    ["llm-do check . --headless", "what a run without a terminal would be denied"],
    ["llm-do check . --format github", "annotations for a job of GitHub"],
  ],
  "llm-do explain": [
    ["llm-do explain examples/pitchdeck_eval", "who may read and write what, and what asks"],
    ["llm-do explain . --format context", "what each worker's first request is made of"],
  ],
  "llm-do verdict": [
    ['llm-do verdict . main/write_file \'{ "path": "out/a.md", "content": "x" }\''],
    ["llm-do verdict . - - < calls.jsonl", "one call a line, one verdict a line"],
  ],
  "llm-do test": [
    ["llm-do test", "all tests of this folder and below, without a model"],
    ["llm-do test main.test.yaml --record", "ask the model, and keep its answers"],
    ["llm-do test --live --runs 20 --budget 1", "how often each case passes, for a dollar at most"],
  ],
  "llm-do submit": [
    ['llm-do submit desk "file the letters"', "prints the id of the run; the store is LLM_DO_STORE"],
    ["llm-do submit desk -i day=2026-01-31 --key 2026-01-31 --wait", "once for each day; ends as the run does"],
  ],
  "llm-do cancel": [["llm-do cancel 20260131-080000-k3v9qa"]],
  "llm-do executor": [["llm-do executor --programs /srv/programs --trust --port 8080", "the store is LLM_DO_STORE"]],
  "llm-do mcp": [
    ["llm-do mcp --print-config claude", "the lines for a client"],
    ["llm-do mcp desk review --trust --hold", "two programs; what asks waits for you"],
  ],
  "llm-do acp": [
    ["llm-do acp . --trust", "as an editor starts it"],
    ["llm-do acp --print-config zed", "the lines for an editor"],
  ],
  "llm-do runs": [["llm-do runs list"], ["llm-do runs show last"]],
  "llm-do runs list": [
    ["llm-do runs list", "your latest runs, wherever their programs are"],
    ["llm-do runs list . -n 5 --json"],
    ["llm-do runs list --since 7d --outcome failed"],
  ],
  "llm-do runs compare": [["llm-do runs compare 20260131-020304-abc123 last --tolerance 0.1"]],
  "llm-do runs show": [
    ["llm-do runs show last"],
    ["llm-do runs show last --costs", "by worker and by turn"],
    ["llm-do runs show last --json | jq .type"],
  ],
  "llm-do runs export": [["llm-do runs export last"]],
  "llm-do runs import": [["llm-do runs import ~/Downloads/20260131-020304-abc123.json"]],
  "llm-do runs adopt": [["llm-do runs adopt 20260131-020304-abc123"]],
  "llm-do runs move": [["llm-do runs move ~/old/review ~/programs/review"]],
  "llm-do view": [
    ["llm-do view", "the newest run, in the browser"],
    ["llm-do view last . --out run.html --no-open", "only write it"],
  ],
  "llm-do resume": [
    ["llm-do resume", "go on with the last run that did not end"],
    ["llm-do resume last . --limit usd=2", "with a higher limit"],
  ],
  "llm-do replay": [["llm-do replay last"], ["llm-do replay last . --json"]],
  "llm-do runs rm": [["llm-do runs rm last"]],
  "llm-do runs prune": [["llm-do runs prune . --keep 20 --dry-run"]],
  "llm-do fork": [
    ["llm-do fork last --model anthropic:claude-opus-4-5", "the last answer of the last run, by another model"],
    ["llm-do fork RUN_ID --at 3", "from the third turn of the entry on"],
  ],
  "llm-do approvals": [["llm-do approvals", "what the newest suspended run waits for"], ["llm-do approvals last . --json"]],
  "llm-do approve": [["llm-do approve last 1 3-5"], ["llm-do approve last --all --yes"]],
  "llm-do deny": [['llm-do deny last 2 --note "keep this file"']],
  "llm-do undo": [["llm-do undo --dry-run", "what it would take back of the last run"], ["llm-do undo last . --yes"]],
  "llm-do models": [
    ["llm-do models", "providers, and what each still needs"],
    ["llm-do models sonnet", "listed models, with prices"],
  ],
  "llm-do models default": [["llm-do models default anthropic:claude-sonnet-4-5"], ["llm-do models default --unset"]],
  "llm-do models alias": [["llm-do models alias fast anthropic:claude-haiku-4-5"], ["llm-do models alias fast --unset"]],
  "llm-do config": [["llm-do config"]],
  "llm-do keys": [["llm-do keys set anthropic"], ["llm-do keys list"]],
  "llm-do keys set": [["llm-do keys set anthropic", "asks for the key"], ["llm-do keys set openai < key.txt"]],
  "llm-do keys list": [["llm-do keys list"]],
  "llm-do keys rm": [["llm-do keys rm anthropic"]],
  "llm-do oauth": [["llm-do oauth login acme"], ["llm-do oauth status"]],
  "llm-do oauth login": [["llm-do oauth login acme"], ["llm-do oauth login acme --device"]],
  "llm-do oauth status": [["llm-do oauth status"]],
  "llm-do oauth logout": [["llm-do oauth logout acme"]],
  "llm-do trust": [["llm-do trust list"], ["llm-do trust revoke ~/programs/review"]],
  "llm-do trust list": [["llm-do trust list --json"]],
  "llm-do trust revoke": [["llm-do trust revoke", "the program of this folder"]],
  "llm-do schema": [["llm-do schema worker > worker.schema.json"], ["llm-do schema event", "a line of --events"]],
  "llm-do compare": [
    ["llm-do compare triage --again --with tools.ts:sort_message", "code beside the prompt, and the prompt beside itself"],
    ["llm-do compare triage --cases triage.cases.jsonl --with model:anthropic:claude-haiku-4-5 --at-least 0.95"],
  ],
  "llm-do calls": [
    ["llm-do calls triage", "the latest calls of a worker"],
    ["llm-do calls triage --since 7d --out triage.cases.jsonl"],
    ["llm-do calls triage --review --out triage.cases.jsonl", "right, wrong, or the right output instead"],
  ],
  "llm-do stabilise": [
    ["llm-do stabilise triage --with tools.ts:sort_message --again", "write `code` where the figures allow it"],
    ["llm-do stabilise triage --draft --again --usd 0.50", "have a model write the function"],
    ["llm-do stabilise triage --back", "the prompt answers everything again"],
  ],
  "llm-do soften": [["llm-do soften tools.ts:due_date", "write due_date.worker, with the tool as its code"]],
  "llm-do keep": [["llm-do keep last --as sort_notes", "write sort_notes.program.js, a tool"]],
  "llm-do drift": [["llm-do drift triage"], ["llm-do drift triage --at-least 0.9", "in a nightly job"]],
  "llm-do types": [["llm-do types letters --trust"], ["llm-do types letters --trust --check", "in CI"]],
  "llm-do lsp": [["llm-do lsp", "what an editor starts"]],
  "llm-do init": [
    ["llm-do init mine"],
    ["llm-do init mine --template words", "a tool in TypeScript"],
    ["llm-do init review --template review", "a worker without tools, with a test"],
    ["llm-do init . --model anthropic:claude-sonnet-4-5"],
  ],
  "llm-do docs": [
    ["llm-do docs", "the pages"],
    ["llm-do docs approval", "a page"],
    ["llm-do docs unknown-key", "what a diagnostic means"],
    ["llm-do docs worker-format | less"],
  ],
  "llm-do completion": [
    ['eval "$(llm-do completion bash)"', "in ~/.bashrc"],
    ["llm-do completion fish > ~/.config/fish/completions/llm-do.fish"],
  ],
};

/** `llm-do runs list`. */
export function commandWords(command: Command): string {
  return command.parent ? `${commandWords(command.parent)} ${command.name()}` : command.name();
}

/** Adds the examples of a command to its help. */
export function addExamples(command: Command): void {
  const lines = Object.hasOwn(examples, commandWords(command)) ? examples[commandWords(command)] : undefined;
  if (!lines) return;
  command.addHelpText("after", () => `\nExamples:\n${renderExamples(lines, process.stdout.columns || 80)}`);
}

/** An example a line, with its effect beside it, or below it where the terminal is too narrow. A line of a shell is not broken. */
function renderExamples(lines: readonly Example[], columns: number): string {
  const width = Math.max(...lines.map(([line]) => line.length));
  return lines
    .flatMap(([line, effect]) => {
      if (effect === undefined) return [`  ${line}`];
      const fits = lines.every(([, text = ""]) => width + text.length + 6 <= columns);
      return fits ? [`  ${line.padEnd(width)}    ${effect}`] : [`  ${line}`, `      ${effect}`];
    })
    .join("\n");
}
