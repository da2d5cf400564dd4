import { fileTooLarge } from "../../host/scope-refusals.ts";
import type { InspectedPath } from "../../host/scopes.ts";
import type { Preview } from "../../protocol/approval.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { sha256 } from "../../util/sha256.ts";
import { aboutFile, type FileAccess, type FileTool, type FileWork } from "./file-tool.ts";
import { toRecorded } from "./reconcile-write.ts";
import {
  assertWellFormed,
  countCharacters,
  decodeText,
  encodeText,
  type FileText,
  formatCount,
  lineEndOf,
  withLineEnds,
} from "./text.ts";
import { inspectVisible } from "./visible-scopes.ts";

const pathProperty = { type: "string", description: "The file, such as scope/folder/name.md. Missing folders are made." };

export const writeFile: FileTool = {
  name: "write_file",
  access: "write",
  description: "Write a whole text file: a new one, or in place of the one that is there (whose line ends are kept).",
  properties: { path: pathProperty, content: { type: "string", description: "The whole new content." } },
  required: ["path", "content"],
  prepare: async (args, access) => {
    const { content, target, present } = await lookAtTarget(args, access);
    const { virtualPath, facts } = target;
    const lineEnd = present?.text === undefined || content.includes("\r") ? undefined : lineEndOf(present.text.text);
    const bytes = encodeText({ text: withLineEnds(content, lineEnd), hasMark: false });
    const state = present === undefined ? "new file" : `replaces ${formatCount(present.bytes)} bytes`;
    return {
      ...toWriting({ content, target, present, access }, bytes, { file: facts?.identity ?? null }),
      content: { now: replacing(target, present), after: replacing(target, { content: bytes }) },
      description: `Write ${countCharacters(content)} to ${virtualPath} (${state})`,
      execute: async ({ scopes }) => {
        const written = await scopes.write(virtualPath, bytes, { expect: facts?.identity });
        return { path: virtualPath, bytes: written.bytes, created: facts === undefined };
      },
    };
  },
};

export const appendFile: FileTool = {
  name: "append_file",
  access: "write",
  description:
    "Append text to the end of a file, as it is; makes the file if there is none. Begin with a newline where one is needed.",
  properties: { path: pathProperty, content: { type: "string", description: "What to append." } },
  required: ["path", "content"],
  prepare: async (args, access) => {
    const { content, target, present } = await lookAtTarget(args, access);
    const { virtualPath, scope } = target;
    if (present !== undefined && present.content === undefined) throw present.unreadable;
    const bytes = Buffer.concat([present?.content ?? new Uint8Array(), Buffer.from(content)]);
    return {
      // Text that others append meanwhile stays, so that no fact about the file changes anything about this call.
      ...toWriting({ content, target, present, access }, bytes),
      // Nothing is replaced: what stands before the new text does not matter.
      content: { now: { scope: scope.name } },
      description: `Append ${countCharacters(content)} to ${virtualPath}${present === undefined ? " (new file)" : ""}`,
      execute: async ({ scopes }) => {
        const { facts, created } = await scopes.append(virtualPath, Buffer.from(content));
        return { path: virtualPath, bytes: facts.bytes, created };
      },
    };
  },
};

/** The content that a write replaces. */
function replacing({ scope, facts }: InspectedPath, present: Pick<PresentFile, "content"> | undefined): JsonObject {
  if (present === undefined) return { scope: scope.name, replaces: null };
  if (present.content === undefined) return { scope: scope.name, replaces: facts?.identity ?? null };
  // A secret in a text can be recognized before a digest is taken.
  const text = Buffer.from(present.content).toString("utf8");
  const isText = Buffer.from(text).equals(present.content);
  return { scope: scope.name, replaces: isText ? { text } : { sha256: sha256(present.content) } };
}

/** The present content: bytes where they could be read, text where they are text. */
interface PresentFile {
  readonly bytes: number;
  readonly content: Uint8Array | undefined;
  readonly text?: FileText | undefined;
  readonly unreadable?: unknown;
}

interface WriteTarget {
  readonly access: FileAccess;
  readonly content: string;
  readonly target: InspectedPath;
  readonly present: PresentFile | undefined;
}

async function lookAtTarget(args: JsonObject, access: FileAccess): Promise<WriteTarget> {
  const content = String(args["content"]);
  assertWellFormed("content", content);
  const target = await inspectVisible(access, String(args["path"]), "write");
  return { access, content, target, present: target.facts && (await readPresent(access, target, target.facts.bytes)) };
}

async function readPresent({ scopes }: FileAccess, { virtualPath }: InspectedPath, bytes: number): Promise<PresentFile> {
  try {
    const { bytes: content } = await scopes.read(virtualPath);
    return { bytes: content.length, content, text: await decodeText(content, virtualPath).catch(() => undefined) };
  } catch (unreadable) {
    return { bytes, content: undefined, unreadable };
  }
}

/** `bytes`: the whole file once it is written. */
function toWriting({ content, target, present, access }: WriteTarget, bytes: Uint8Array, facts?: JsonObject) {
  const { virtualPath } = target;
  assertFits(target, bytes);
  return {
    ...aboutFile(target, facts),
    canonicalArgs: { path: virtualPath, content },
    recorded: toRecorded(access, present === undefined ? null : present.content, bytes),
    preview: toPreview(virtualPath, present, bytes),
  } satisfies Partial<FileWork>;
}

export function assertFits({ scope, virtualPath }: InspectedPath, bytes: Uint8Array): void {
  if (scope.maxFileBytes !== undefined && bytes.length > scope.maxFileBytes) throw fileTooLarge(virtualPath, scope.maxFileBytes);
}

function toPreview(path: string, present: PresentFile | undefined, bytes: Uint8Array): Preview {
  const after = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  if (present === undefined) return { type: "new-file", path, content: after, bytes: bytes.length };
  const before = present.text && (present.text.hasMark ? "\ufeff" : "") + present.text.text;
  if (before !== undefined) return { type: "diff", path, before, after };
  const what = `${formatCount(present.bytes)} bytes that ${present.content === undefined ? "cannot be read" : "are not text"}`;
  return { type: "text", text: `Replaces ${what} by:\n${after}`, omits: `the ${what} of ${path}` };
}
