import { spawn } from "node:child_process";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CompletionList, Diagnostic, Hover, PublishDiagnosticsParams, TextEdit } from "vscode-languageserver-protocol/node";
import { createProtocolConnection, StreamMessageReader, StreamMessageWriter } from "vscode-languageserver-protocol/node";

const server = fileURLToPath(import.meta.resolve("yaml-language-server/bin/yaml-language-server"));

/** An editor with one document open. A `|` in its text is the cursor. */
export interface Editor {
  readonly diagnostics: readonly Diagnostic[];
  complete(): Promise<string[]>;
  hover(): Promise<string>;
  format(): Promise<readonly TextEdit[]>;
}

export interface LanguageServer {
  open(text: string, name?: string): Promise<Editor>;
  stop(): Promise<void>;
}

/** The real yaml-language-server over stdio, in a folder, with the settings under `yaml`. */
export async function startLanguageServer(folder: string, settings: object = {}): Promise<LanguageServer> {
  const child = spawn(process.execPath, [server, "--stdio"], { stdio: ["pipe", "pipe", "ignore"] });
  const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
  const waiting = new Map<string, (diagnostics: readonly Diagnostic[]) => void>();
  connection.onNotification("textDocument/publishDiagnostics", ({ uri, diagnostics }: PublishDiagnosticsParams) => {
    waiting.get(uri)?.(diagnostics);
  });
  const yaml = { validate: true, hover: true, completion: true, schemaStore: { enable: false }, ...settings };
  connection.onRequest("workspace/configuration", ({ items }: { items: readonly { section?: string }[] }) =>
    items.map(({ section }) => (section === "yaml" ? yaml : null)),
  );
  connection.onRequest("client/registerCapability", () => null);
  connection.listen();
  await connection.sendRequest("initialize", initialization(pathToFileURL(folder).href));
  await connection.sendNotification("initialized", {});
  let opened = 0;
  return {
    async open(marked, name = `${opened++}.worker`) {
      const uri = `${pathToFileURL(folder).href}/${name}`;
      const { text, position } = readCursor(marked);
      const published = new Promise<readonly Diagnostic[]>((resolve) => waiting.set(uri, resolve));
      await connection.sendNotification("textDocument/didOpen", {
        textDocument: { uri, languageId: "yaml", version: 1, text },
      });
      const at = { textDocument: { uri }, position };
      return {
        diagnostics: await published,
        complete: async () =>
          (await connection.sendRequest<CompletionList>("textDocument/completion", at)).items.map(({ label }) => label),
        hover: async () => textOf(await connection.sendRequest<Hover | null>("textDocument/hover", at)),
        format: async () =>
          (await connection.sendRequest<TextEdit[] | null>("textDocument/formatting", {
            ...at,
            options: { tabSize: 2, insertSpaces: true },
          })) ?? [],
      };
    },
    async stop() {
      await connection.sendRequest("shutdown");
      await connection.sendNotification("exit");
      connection.dispose();
      child.kill();
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

function textOf(hover: Hover | null): string {
  const contents = hover?.contents ?? "";
  return typeof contents === "object" && "value" in contents ? contents.value : JSON.stringify(contents);
}
