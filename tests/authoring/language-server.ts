import { spawn } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import type {
  CodeAction,
  CompletionItem,
  CompletionList,
  Diagnostic,
  Hover,
  Location,
  PublishDiagnosticsParams,
  TextEdit,
} from "vscode-languageserver-protocol/node";
import { createProtocolConnection, StreamMessageReader, StreamMessageWriter } from "vscode-languageserver-protocol/node";

const server = fileURLToPath(import.meta.resolve("yaml-language-server/bin/yaml-language-server"));

/** An editor with one document open. A `|` in its text is the cursor. */
export interface Editor {
  readonly diagnostics: readonly Diagnostic[];
  /** Replaces the text; resolves with the diagnostics of the new one. */
  change(text: string): Promise<readonly Diagnostic[]>;
  /** The text with the first quick fix of a title. */
  fix(title: string): Promise<string>;
  /** Titles of the quick fixes at the cursor. */
  fixes(): Promise<string[]>;
  /** `file:line:character`, from 0; empty where nothing is defined. */
  define(): Promise<string>;
  complete(): Promise<string[]>;
  hover(): Promise<string>;
  format(): Promise<readonly TextEdit[]>;
}

export interface LanguageServer {
  /** Opens a document without waiting for its diagnostics. */
  announce(uri: string): void;
  open(text: string, name?: string): Promise<Editor>;
  /** Resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** The arguments of Node that start the real yaml-language-server over stdio. */
const yamlServer = [server, "--stdio"];

/** A language server over stdio, by default that of YAML, in a folder, with the settings under `yaml`. */
export async function startLanguageServer(folder: string, settings: object = {}, args = yamlServer): Promise<LanguageServer> {
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  const waiting = new Map<string, (diagnostics: readonly Diagnostic[]) => void>();
  connection.onNotification("textDocument/publishDiagnostics", ({ uri, version = 1, diagnostics }: PublishDiagnosticsParams) => {
    waiting.get(`${uri} ${version}`)?.(diagnostics);
  });
  const nextOf = (uri: string, version: number) =>
    new Promise<readonly Diagnostic[]>((resolve) => waiting.set(`${uri} ${version}`, resolve));
  const yaml = { validate: true, hover: true, completion: true, schemaStore: { enable: false }, ...settings };
  connection.onRequest("workspace/configuration", ({ items }: { items: readonly { section?: string }[] }) =>
    items.map(({ section }) => (section === "yaml" ? yaml : null)),
  );
  connection.onRequest("client/registerCapability", () => null);
  connection.listen();
  await connection.sendRequest("initialize", initialization(pathToFileURL(folder).href));
  await connection.sendNotification("initialized", {});
  let opened = 0;
  const didOpen = (uri: string, text: string) =>
    connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "yaml", version: 1, text } });
  return {
    announce: (uri) => void didOpen(uri, "---\n---\n"),
    async open(marked, name = `document${opened++}.worker`) {
      const uri = `${pathToFileURL(folder).href}/${name}`;
      const { text, position } = readCursor(marked);
      const published = nextOf(uri, 1);
      let version = 1;
      await didOpen(uri, text);
      const at = { textDocument: { uri }, position };
      const askFixes = () =>
        connection.sendRequest<CodeAction[]>("textDocument/codeAction", {
          ...{ textDocument: { uri }, range: { start: position, end: position }, context: { diagnostics: [] } },
        });
      return {
        diagnostics: await published,
        change: async (changed) => {
          const next = nextOf(uri, ++version);
          const contentChanges = [{ text: changed }];
          await connection.sendNotification("textDocument/didChange", { textDocument: { uri, version }, contentChanges });
          return next;
        },
        fixes: async () => (await askFixes()).map(({ title }) => title),
        fix: async (title) => {
          const [edit] = (await askFixes()).find((one) => one.title === title)?.edit?.changes?.[uri] ?? [];
          return edit ? applyEdit(text, edit) : "";
        },
        define: async () => {
          const found = await connection.sendRequest<Location | null>("textDocument/definition", at);
          const { line, character } = found?.range.start ?? { line: 0, character: 0 };
          return found ? `${found.uri.slice(pathToFileURL(folder).href.length + 1)}:${line}:${character}` : "";
        },
        complete: async () =>
          itemsOf(await connection.sendRequest<CompletionList | CompletionItem[]>("textDocument/completion", at)),
        hover: async () => textOf(await connection.sendRequest<Hover | null>("textDocument/hover", at)),
        format: async () =>
          (await connection.sendRequest<TextEdit[] | null>("textDocument/formatting", {
            ...at,
            options: { tabSize: 2, insertSpaces: true },
          })) ?? [],
      };
    },
    async stop() {
      const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
      await connection.sendRequest("shutdown");
      await connection.sendNotification("exit");
      const code = await ended;
      connection.dispose();
      return code;
    },
  };
}

function initialization(rootUri: string): object {
  const textDocument = {
    completion: { completionItem: { snippetSupport: true, documentationFormat: ["markdown"] } },
    hover: { contentFormat: ["markdown"] },
    publishDiagnostics: {},
  };
  const workspace = { configuration: true, workspaceFolders: true, didChangeConfiguration: { dynamicRegistration: true } };
  return {
    processId: process.pid,
    rootUri,
    workspaceFolders: [{ uri: rootUri, name: "program" }],
    capabilities: { textDocument, workspace },
  };
}

function readCursor(marked: string): { readonly text: string; readonly position: { line: number; character: number } } {
  const at = Math.max(0, marked.indexOf("|"));
  const lines = marked.slice(0, at).split("\n");
  return { text: marked.replace("|", ""), position: { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 } };
}

function itemsOf(list: CompletionList | CompletionItem[]): string[] {
  return (Array.isArray(list) ? list : list.items).map(({ label }) => label);
}

function applyEdit(text: string, { range, newText }: TextEdit): string {
  const offset = ({ line, character }: TextEdit["range"]["start"]) =>
    text
      .split("\n")
      .slice(0, line)
      .reduce((sum, one) => sum + one.length + 1, character);
  return text.slice(0, offset(range.start)) + newText + text.slice(offset(range.end));
}

function textOf(hover: Hover | null): string {
  const contents = hover?.contents ?? "";
  return typeof contents === "object" && "value" in contents ? contents.value : JSON.stringify(contents);
}
