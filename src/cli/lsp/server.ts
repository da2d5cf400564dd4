import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { CodeAction, CompletionItem, Connection, Location, Diagnostic as LspDiagnostic } from "vscode-languageserver/node";
import type { TextDocument } from "vscode-languageserver-textdocument";
import { locateTarget } from "../../compile/locate-target.ts";
import type { Diagnostic } from "../../diagnostics/diagnostic.ts";
import { hideSecrets } from "../../diagnostics/hide-secrets.ts";
import { createNodeHost } from "../../host/node-host.ts";
import type { Outline } from "../../protocol/outline.ts";
import { version } from "../../version.ts";
import { expectExit } from "../output.ts";
import { checkDocuments, toRange } from "./check-documents.ts";
import { complete } from "./complete.ts";
import { define, hover } from "./look-up.ts";
import { kindOf, type OpenDocument } from "./open-document.ts";
import { createOverlayHost } from "./overlay-host.ts";
import { findQuickFixes } from "./quick-fixes.ts";

/** The open documents of an editor, by URI. */
interface Documents {
  get(uri: string): TextDocument | undefined;
  all(): TextDocument[];
}

/** Milliseconds without a change before documents are checked. */
const pause = 150;

const severities = { error: 1, warning: 2, hint: 3 } as const;

/** `llm-do lsp`: a language server over stdio. Ends the process when the editor leaves. */
export async function serve(): Promise<never> {
  const [{ createConnection, ProposedFeatures, TextDocuments, TextDocumentSyncKind }, { TextDocument: Document }] =
    await Promise.all([import("vscode-languageserver/node"), import("vscode-languageserver-textdocument")]);
  const connection = createConnection(ProposedFeatures.all, process.stdin, process.stdout);
  const documents = new TextDocuments(Document);
  const session = new Session(connection, documents);
  connection.onInitialize(() => ({
    serverInfo: { name: "llm-do", version },
    capabilities: {
      textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
      completionProvider: { triggerCharacters: [":", " ", "{", '"', "/"] },
      hoverProvider: true,
      definitionProvider: true,
      codeActionProvider: { codeActionKinds: ["quickfix"] },
    },
  }));
  documents.onDidChangeContent(() => session.schedule());
  documents.onDidClose(() => session.schedule());
  documents.onDidSave(() => session.schedule());
  connection.onCompletion((at) => session.complete(at.textDocument.uri, at.position));
  connection.onHover(async (at) => {
    const value = await session.with(at, hover);
    return value === undefined ? null : { contents: { kind: "markdown" as const, value } };
  });
  connection.onDefinition((at) => session.define(at));
  connection.onCodeAction(({ textDocument, range }) => session.fix(textDocument.uri, range));
  documents.listen(connection);
  connection.listen();
  // Then the library ends the process: with 0 after the editor's `shutdown`, with 1 without.
  connection.onExit(expectExit);
  return new Promise(() => undefined);
}

/** The diagnostics of a file, whose sources are named from `root`. */
interface Found {
  readonly root: string;
  readonly all: readonly Diagnostic[];
}

type Position = LspDiagnostic["range"]["start"];

interface Place {
  readonly textDocument: { readonly uri: string };
  readonly position: Position;
}

/** Checks documents while they are edited, and answers what an editor asks of them. */
class Session {
  readonly #connection: Connection;
  readonly #documents: Documents;
  readonly #host = createNodeHost();
  #diagnostics: ReadonlyMap<string, Found> = new Map();
  readonly #outlines = new Map<string, Outline>();
  #timer: NodeJS.Timeout | undefined;
  #checking: Promise<void> = Promise.resolve();

  constructor(connection: Connection, documents: Documents) {
    this.#connection = connection;
    this.#documents = documents;
  }

  /** Checks after the next pause, one check at a time. */
  schedule(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#checking = this.#checking
        .then(() => this.#check())
        .catch((thrown: unknown) => this.#connection.console.error(String(thrown)));
    }, pause);
  }

  async #check(): Promise<void> {
    const texts = this.#texts();
    const found = new Map<string, Found>();
    const roots = await Promise.all([...texts.keys()].map(async (path) => [path, await this.#rootOf(path)] as const));
    for (const [root, paths] of Map.groupBy(roots, ([, one]) => one)) {
      const ofRoot = new Map(paths.map(([path]) => [path, texts.get(path) ?? ""]));
      const { diagnostics, outlines } = await checkDocuments({ host: this.#host, root, texts: ofRoot });
      for (const [path, all] of diagnostics) found.set(path, { root, all });
      for (const [path, outline] of outlines) this.#outlines.set(path, outline);
    }
    const open = this.#opened();
    const isStale = [...texts].some(([path, text]) => open.get(path)?.getText() !== text);
    if (isStale) return;
    const paths = new Set([...this.#diagnostics.keys(), ...found.keys(), ...texts.keys()]);
    this.#diagnostics = found;
    for (const path of paths) {
      const { root = "", all = [] } = found.get(path) ?? {};
      const diagnostics = all.map((one) => toLspDiagnostic(one, root));
      // Editors spell addresses in ways of their own, and know a document by their spelling.
      const { uri = toUri(path), version } = open.get(path) ?? {};
      await this.#connection.sendDiagnostics({ uri, diagnostics, ...(version === undefined ? {} : { version }) });
    }
  }

  async complete(uri: string, position: Position): Promise<CompletionItem[]> {
    const [document, text] = [await this.#open(uri), this.#documents.get(uri)];
    if (!document || !text) return [];
    const found = await complete(document, text.offsetAt(position));
    return found.map(({ label, detail, text: newText, start }) => ({
      ...{ label, detail, filterText: label },
      textEdit: { newText, range: { start: text.positionAt(start), end: position } },
    }));
  }

  /** Asks something about a place. */
  async with<T>(
    { textDocument, position }: Place,
    ask: (document: OpenDocument, offset: number) => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const [document, text] = [await this.#open(textDocument.uri), this.#documents.get(textDocument.uri)];
    return document && text ? ask(document, text.offsetAt(position)) : undefined;
  }

  async define(place: Place): Promise<Location | null> {
    const found = await this.with(place, define);
    return found ? { uri: toUri(found.path), range: toRange(found.span) } : null;
  }

  fix(uri: string, range: LspDiagnostic["range"]): CodeAction[] {
    const text = this.#documents.get(uri);
    if (!text) return [];
    const [from, to] = [text.offsetAt(range.start), text.offsetAt(range.end)];
    const { root = "", all = [] } = this.#diagnostics.get(toPath(uri) ?? "") ?? {};
    const near = all.filter(({ span }) => span && span.source.text === text.getText() && span.start <= to && span.end >= from);
    return near.flatMap((diagnostic) =>
      findQuickFixes(diagnostic).map(({ title, span, text: newText }) => ({
        ...{ title, kind: "quickfix", diagnostics: [toLspDiagnostic(diagnostic, root)] },
        edit: { changes: { [uri]: [{ range: toRange(span), newText }] } },
      })),
    );
  }

  async #open(uri: string): Promise<OpenDocument | undefined> {
    const [path, text] = [toPath(uri), this.#documents.get(uri)?.getText()];
    if (path === undefined || text === undefined) return undefined;
    const root = await this.#rootOf(path);
    const host = createOverlayHost(this.#host, root, this.#texts());
    return { path, text, kind: kindOf(path), root, host, outline: this.#outlines.get(path) };
  }

  /** By their absolute paths. */
  #opened(): Map<string, TextDocument> {
    const opened = this.#documents.all().flatMap((document) => {
      const path = toPath(document.uri);
      return path === undefined ? [] : [[path, document] as const];
    });
    return new Map(opened);
  }

  #texts(): Map<string, string> {
    return new Map([...this.#opened()].map(([path, document]) => [path, document.getText()]));
  }

  /** The folder of the program that a file belongs to. A template lies beside the worker, or in `templates/`. */
  async #rootOf(path: string): Promise<string> {
    const host = createOverlayHost(this.#host, this.#host.workingDirectory, this.#texts());
    const target = path.endsWith(".worker")
      ? path
      : resolve(path, /[\\/](?:templates|workers)[\\/][^\\/]+$/.test(path) ? "../.." : "..");
    const located = await locateTarget({ host, target });
    return "place" in located ? located.place.root : target;
  }
}

function toUri(path: string): string {
  return pathToFileURL(path).href;
}

/** Undefined for a document that is no file of this machine. */
function toPath(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

function toLspDiagnostic(diagnostic: Diagnostic, root: string): LspDiagnostic {
  const { code, severity, message, span, notes } = hideSecrets(diagnostic);
  const said = notes.filter((note) => !note.span).map((note) => note.message);
  const related = notes.flatMap((note) => {
    if (!note.span) return [];
    return [{ message: note.message, location: { uri: toUri(resolve(root, note.span.source.name)), range: toRange(note.span) } }];
  });
  return {
    ...{ code, source: "llm-do", severity: severities[severity], message: [message, ...said].join("\n"), range: toRange(span) },
    ...(related.length > 0 ? { relatedInformation: related } : {}),
  };
}
