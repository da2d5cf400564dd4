import { fileTooLarge } from "../../host/scopes/scope-refusals.ts";
import type { InspectedPath } from "../../host/scopes/scopes.ts";
import type { Preview } from "../../protocol/approval.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { sha256 } from "../../util/sha256.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { folderIdentity } from "../folder-identity.ts";
import { aboutFile, type FileAccess, type FileTool, type FileWork } from "./file-tool.ts";
import { type FileContent, toRecorded, toText } from "./reconcile-write.ts";
import {
  assertWellFormed,
  countCharacters,
  decodeText,
  encodeText,
  type FileText,
  lineEndOf,
  wholeText,
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
    const text = withLineEnds(content, lineEnd);
    const bytes = encodeText({ text, hasMark: false });
    const state = present === undefined ? "new file" : `replaces ${formatCount(present.bytes)} bytes`;
    return {
      ...(await toWriting({ content, target, present, access }, { bytes, text }, { file: facts?.identity ?? null })),
      content: { now: replacing(target, present), after: { scope: target.scope.name, replaces: { text } } },
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
    const before = present === undefined ? "" : textOf(present);
    const after = { bytes, text: before === undefined ? undefined : before + content };
    return {
      // Text that others append meanwhile stays, so that no fact about the file itself changes anything about this call.
      ...(await toWriting({ content, target, present, access }, after)),
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
function replacing({ scope, facts }: InspectedPath, present: PresentFile | undefined): JsonObject {
  if (present === undefined) return { scope: scope.name, replaces: null };
  const { content } = present;
  if (content === undefined) return { scope: scope.name, replaces: facts?.identity ?? null };
  // A secret in a text can be recognized before a digest is taken.
  const text = textOf(present) ?? toText(content);
  const isText = present.text !== undefined || Buffer.from(text).equals(content);
  return { scope: scope.name, replaces: isText ? { text } : { sha256: sha256(content) } };
}

function textOf({ text }: PresentFile): string | undefined {
  return text && wholeText(text);
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

/** `after`: the whole file once it is written. */
async function toWriting({ content, target, present, access }: WriteTarget, after: FileContent, facts?: JsonObject) {
  const { virtualPath, scope } = target;
  assertFits(target, after.bytes);
  const before = present?.content && { bytes: present.content, text: textOf(present) };
  return {
    ...aboutFile(target, { folder: await folderIdentity(access.scopes, scope), ...facts }),
    canonicalArgs: { path: virtualPath, content },
    recorded: toRecorded(access, present === undefined ? null : before, after),
    preview: toPreview(virtualPath, present, after),
  } satisfies Partial<FileWork>;
}

export function assertFits({ scope, virtualPath }: InspectedPath, bytes: Uint8Array): void {
  if (scope.maxFileBytes !== undefined && bytes.length > scope.maxFileBytes) throw fileTooLarge(virtualPath, scope.maxFileBytes);
}

function toPreview(path: string, present: PresentFile | undefined, { bytes, text }: FileContent): Preview {
  const after = text ?? toText(bytes);
  if (present === undefined) return { type: "new-file", path, content: after, bytes: bytes.length };
  const before = textOf(present);
  if (before !== undefined) return { type: "diff", path, before, after };
  const what = `${formatCount(present.bytes)} bytes that ${present.content === undefined ? "cannot be read" : "are not text"}`;
  return { type: "text", text: `Replaces ${what} by:\n${after}`, omits: `the ${what} of ${path}` };
}
