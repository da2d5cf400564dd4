import { fileTooLarge } from "../../host/scope-refusals.ts";
import type { InspectedPath } from "../../host/scopes.ts";
import type { Preview } from "../../protocol/approval.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { sha256 } from "../../util/sha256.ts";
import type { FileAccess, FileTool, FileWork, PreparedWork } from "./file-work.ts";
import { assertWellFormed, decodeText, encodeText, type FileText, formatCount, lineEndOf, withLineEnds } from "./text.ts";
import { inspectVisible } from "./visible-scopes.ts";

const pathProperty = { type: "string", description: "The file, such as scope/folder/name.md. Missing folders are made." };

export const writeFile: FileTool = {
  name: "write_file",
  writes: true,
  description: "Write a whole text file: a new one, or in place of the one that is there (whose line ends are kept).",
  properties: { path: pathProperty, content: { type: "string", description: "The whole new content." } },
  required: ["path", "content"],
  prepare: async (args, access) => {
    const content = String(args["content"]);
    const { target, present } = await lookAtTarget(args, access);
    const lineEnd = present?.text === undefined || content.includes("\r") ? undefined : lineEndOf(present.text.text);
    const after = { text: withLineEnds(content, lineEnd), hasMark: false };
    const state = present === undefined ? "new file" : `replaces ${formatCount(present.bytes)} bytes`;
    const description = `Write ${formatCount(content.length)} ${content.length === 1 ? "character" : "characters"} to ${target.virtualPath} (${state})`;
    const bytes = encodeText(after);
    const remembered = { now: replacing(target, present), after: replacing(target, { content: bytes }) };
    const { virtualPath } = target;
    return toWork(
      { args: { path: virtualPath, content }, target, present, bytes, description, remembered },
      {
        facts: { file: target.facts?.identity ?? null },
        execute: async ({ scopes }) => {
          const written = await scopes.write(virtualPath, bytes, { expect: target.facts?.identity });
          return { path: virtualPath, bytes: written.bytes, created: target.facts === undefined };
        },
      },
    );
  },
};

export const appendFile: FileTool = {
  name: "append_file",
  writes: true,
  description:
    "Append text to the end of a file, as it is; makes the file if there is none. Begin with a newline where one is needed.",
  properties: { path: pathProperty, content: { type: "string", description: "What to append." } },
  required: ["path", "content"],
  prepare: async (args, access) => {
    const content = String(args["content"]);
    const { target, present } = await lookAtTarget(args, access);
    if (present !== undefined && present.content === undefined) throw present.unreadable;
    const bytes = Buffer.concat([present?.content ?? new Uint8Array(), Buffer.from(content)]);
    const state = present === undefined ? " (new file)" : "";
    const description = `Append ${formatCount(content.length)} ${content.length === 1 ? "character" : "characters"} to ${target.virtualPath}${state}`;
    // Nothing is replaced: what stands before the new text does not matter.
    const remembered = { now: { scope: target.scope.name } };
    const { virtualPath } = target;
    return toWork(
      { args: { path: virtualPath, content }, target, present, bytes, description, remembered },
      {
        // What others append meanwhile stays, so it changes nothing about this call.
        facts: {},
        execute: async ({ scopes }) => {
          const { facts, created } = await scopes.append(virtualPath, Buffer.from(content));
          return { path: virtualPath, bytes: facts.bytes, created };
        },
      },
    );
  },
};

/** The text that a write takes the place of. */
function replacing({ scope, facts }: InspectedPath, present: Pick<PresentFile, "content"> | undefined): JsonObject {
  if (present === undefined) return { scope: scope.name, replaces: null };
  const { content } = present;
  return { scope: scope.name, replaces: content === undefined ? (facts?.identity ?? null) : sha256(content) };
}

/** What is there now: bytes where they could be read, text where they are text. */
export interface PresentFile {
  readonly bytes: number;
  readonly content: Uint8Array | undefined;
  readonly text: FileText | undefined;
  readonly unreadable: unknown;
}

async function lookAtTarget(args: JsonObject, access: FileAccess) {
  assertWellFormed("content", String(args["content"]));
  const target = await inspectVisible(access, String(args["path"]), "write");
  return { target, present: target.facts === undefined ? undefined : await readPresent(access, target, target.facts.bytes) };
}

export async function readPresent(access: FileAccess, target: InspectedPath, bytes: number): Promise<PresentFile> {
  try {
    const { bytes: content } = await access.scopes.read(target.virtualPath);
    const text = await decodeText(content, target.virtualPath).catch(() => undefined);
    return { bytes: content.length, content, text, unreadable: undefined };
  } catch (unreadable) {
    return { bytes, content: undefined, text: undefined, unreadable };
  }
}

interface Writing {
  readonly args: JsonObject;
  readonly target: InspectedPath;
  readonly present: PresentFile | undefined;
  readonly bytes: Uint8Array;
  readonly description: string;
  /** What an approval for the run is bound to. */
  readonly remembered: NonNullable<PreparedWork["content"]>;
}

function toWork(
  { args, target, present, bytes, description, remembered }: Writing,
  { facts, execute }: { readonly facts: JsonObject } & Pick<FileWork, "execute">,
): PreparedWork {
  const { virtualPath, scope, protection } = target;
  assertFits(target, bytes);
  return {
    canonicalArgs: args,
    facts: { scope: scope.name, ...facts },
    content: remembered,
    work: {
      access: "write",
      virtualPath,
      scopes: [scope],
      protection,
      description,
      preview: toPreview(virtualPath, present, bytes),
      execute,
    },
  };
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
