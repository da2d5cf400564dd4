import { join, relative } from "node:path";
import type { UntrustedProgram } from "../compile/compile-error.ts";
import { createNodeHost } from "../host/node-host.ts";
import { createTrustStore, type TrustStore } from "../host/trust-store.ts";
import { errorMessage } from "../util/error-message.ts";
import { escapeText } from "../util/escape-text.ts";
import { UsageError } from "./exit-codes.ts";
import { writeStderr } from "./output.ts";
import type { Terminal } from "./terminal.ts";

export interface TrustOptions {
  /** Undefined where nobody can be asked. */
  readonly terminal: Terminal | undefined;
  readonly signal: AbortSignal;
}

/** Resolves when the program's code may run: its folder is trusted, or a person says so now. Otherwise a `UsageError`. */
export async function requireTrust(program: UntrustedProgram, { terminal, signal }: TrustOptions): Promise<void> {
  const { root } = program;
  const store = openTrustStore();
  if (await store.has(root)) return;
  const names = [...program.files.map((file) => show(shorten(root, file))), ...program.addresses.map(show)].join(", ");
  if (!terminal) {
    throw new UsageError(
      `${show(root)} brings code or reaches beyond its folder (${names}), and the folder is not trusted. Look at it; then run once at a terminal to trust the folder, or pass --trust`,
    );
  }
  const text = `\nThis program brings code that would run with your rights, or reaches beyond its folder: ${names}.\nTrust ${show(root)}? [y]es, this once / [a]lways / [n]o\n`;
  const answer = await terminal.ask({ text, read: readAnswer }, signal);
  if (answer === "no") throw new UsageError(`${show(root)} is not trusted, and nothing of it has run`);
  if (answer === "always") await remember(store, root);
}

/** Whether the user has trusted a folder for good. */
export function isTrusted(root: string): Promise<boolean> {
  return openTrustStore().has(root);
}

function openTrustStore(): TrustStore {
  const told = new Set<string>();
  return createTrustStore(createNodeHost(), (message) => {
    if (!told.has(message)) writeStderr(`llm-do: warning: ${message}\n`);
    told.add(message);
  });
}

async function remember(store: TrustStore, root: string): Promise<void> {
  try {
    await store.add(root);
  } catch (thrown) {
    writeStderr(`llm-do: warning: the trust cannot be remembered, and holds for this run: ${errorMessage(thrown)}\n`);
  }
}

type TrustAnswer = "once" | "always" | "no";

function readAnswer(line: string | undefined): { readonly answer: TrustAnswer } | string {
  switch (line?.trim().toLowerCase()) {
    case "y":
    case "yes":
      return { answer: "once" };
    case "a":
    case "always":
      return { answer: "always" };
    case "n":
    case "no":
    case undefined:
      return { answer: "no" };
    default:
      return "Answer with y, a or n.";
  }
}

/** Files outside of the program keep their whole path: that is what must be seen. */
function shorten(root: string, file: string): string {
  const path = relative(root, file);
  return path.startsWith("..") || join(root, path) !== file ? file : path;
}

function show(text: string): string {
  return escapeText(text, { keepBackslashes: true });
}
