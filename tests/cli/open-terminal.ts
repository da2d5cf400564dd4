import { type IPty, spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { onTestFinished } from "vitest";
import { bin, cleanEnvironment } from "./run-cli.ts";

export interface TerminalOptions {
  readonly cwd: string;
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs are drawn by the terminal UI. Default false: they print lines. */
  readonly isDrawn?: boolean;
  /** A shell command in place of the CLI; `$LLM_DO` in it is the CLI. */
  readonly command?: string;
}

export interface OpenTerminal {
  type(keys: string): void;
  /**
   * Resolves when the screen, its history included, holds the text after what was waited for before; or, where runs are drawn, holds it
   * anywhere. An expression is looked for in the whole screen.
   */
  waitFor(text: string | RegExp): Promise<void>;
  /** All lines so far, without trailing spaces. */
  screen(): string;
  readonly process: IPty;
  resize(columns: number, rows: number): void;
  readonly exitCode: Promise<number>;
}

/** The last key of a question in lines, and the cursor below it. */
export const prompt = "[?]\n>";

/** Waits for the end of the command. */
export async function end(terminal: OpenTerminal): Promise<{ readonly exitCode: number; readonly screen: string }> {
  const exitCode = await terminal.exitCode;
  return { exitCode, screen: terminal.screen() };
}

/** Runs the CLI as at a person's terminal. */
export function openTerminal(args: readonly string[], options: TerminalOptions): OpenTerminal {
  const { cwd, columns = 100, rows = 40, command, env = {}, isDrawn = false } = options;
  const node = process.execPath;
  const [file, argv] = command === undefined ? [node, [bin, ...args]] : ["/bin/bash", ["-c", command]];
  const plain = isDrawn ? {} : { LLM_DO_PLAIN: "1" };
  const environment = { ...cleanEnvironment(cwd), LLM_DO: `${node} ${bin}`, ...plain, ...env };
  const pty = spawn(file, argv, { cwd, cols: columns, rows, env: environment, name: "xterm-256color" });
  const terminal = new xterm.Terminal({ cols: columns, rows, scrollback: 10_000, allowProposedApi: true });
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  pty.onData((text) => terminal.write(text, tell));
  // The screen is drawn later than its text arrives: who waits for the end must see all of it.
  const exitCode = new Promise<number>((done) =>
    pty.onExit(({ exitCode: code, signal }) => terminal.write("", () => done(signal ? 128 + signal : code))),
  );
  onTestFinished(() => pty.kill("SIGKILL"));
  const screen = () => readScreen(terminal);
  let seen = 0;
  return {
    process: pty,
    resize: (to, height) => {
      terminal.resize(to, height);
      pty.resize(to, height);
    },
    exitCode,
    screen,
    type: (keys) => pty.write(keys),
    waitFor: (text) =>
      new Promise((done, fail) => {
        const timer = setTimeout(() => fail(new Error(`the screen does not show ${text}:\n${screen()}`)), 20_000);
        const look = () => {
          const at = typeof text === "string" ? screen().indexOf(text, seen) : screen().search(text);
          if (at < 0) return;
          // A drawn text moves on the screen.
          if (!isDrawn && typeof text === "string") seen = at + text.length;
          listeners.delete(look);
          clearTimeout(timer);
          done();
        };
        listeners.add(look);
        look();
      }),
  };
}

function readScreen(terminal: xterm.Terminal): string {
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, row) => active.getLine(row)?.translateToString(true) ?? "");
  return lines.join("\n").trimEnd();
}
