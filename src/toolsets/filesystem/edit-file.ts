import { type InspectedPath, ScopeError, type Scopes } from "../../host/scopes/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { toolFailure } from "../toolset.ts";
import { aboutFile, asksToRead, type FileAccess, type FileTool, type FileWork } from "./file-tool.ts";
import { toRecorded } from "./reconcile-write.ts";
import { assertWellFormed, decodeText, encodeText, lineEndOf, wholeText, withLineEnds } from "./text.ts";
import { inspectVisible } from "./visible-scopes.ts";
import { assertFits } from "./write-file.ts";

export const editFile: FileTool = {
  name: "edit_file",
  access: "edit",
  description:
    "Replace one piece of a text file. old_text must occur exactly once: give enough of what surrounds it. Line ends and everything else stay.",
  properties: {
    path: { type: "string", description: "The file, such as scope/folder/name.md." },
    old_text: { type: "string", minLength: 1, description: "The text to replace, exactly as the file has it." },
    new_text: { type: "string", description: "What to put in its place." },
  },
  required: ["path", "old_text", "new_text"],
  prepare,
};

async function prepare(args: JsonObject, access: FileAccess): Promise<FileWork> {
  const edit = { oldText: String(args["old_text"]), newText: String(args["new_text"]) };
  if (edit.oldText === edit.newText) throw toolFailure("invalid_arguments", "old_text and new_text are the same");
  assertWellFormed("new_text", edit.newText);
  // To find a file that is there, with the nearest names where it is not, is to read; then it must be writable too.
  await inspectVisible(access, String(args["path"]), "read");
  const target = await inspectVisible(access, String(args["path"]), "write");
  const { virtualPath, scope, protection, facts } = target;
  const plan = await planEdit(access.scopes, target, edit).catch((failure: unknown) => ({ failure }));
  const isPlanned = !("failure" in plan);
  // The number of matches shows part of the content: where reading asks, the failure is reported only after the question.
  if (!isPlanned && !asksToRead(scope, protection)) throw plan.failure;
  return {
    ...aboutFile(target, { file: facts?.identity ?? null }),
    canonicalArgs: { path: virtualPath, old_text: edit.oldText, new_text: edit.newText },
    ...(isPlanned
      ? {
          content: { now: { scope: scope.name, replaces: plan.before.text } },
          recorded: toRecorded(access, { bytes: plan.bytes, text: wholeText(plan.before) }, plan.written),
        }
      : {}),
    description: `Edit ${virtualPath}: replace ${formatCount(edit.oldText.length)} characters by ${formatCount(edit.newText.length)}`,
    preview: isPlanned
      ? { type: "diff", path: virtualPath, before: plan.before.text, after: plan.after.text }
      : { type: "text", text: `This edit would fail.\n--- old_text\n${edit.oldText}\n--- new_text\n${edit.newText}` },
    execute: async ({ scopes }) => {
      if (!isPlanned) throw plan.failure;
      const written = await scopes.write(virtualPath, plan.written.bytes, { expect: facts?.identity });
      return { path: virtualPath, bytes: written.bytes, replaced: 1 };
    },
  };
}

async function planEdit(scopes: Scopes, target: InspectedPath, edit: { readonly oldText: string; readonly newText: string }) {
  const { bytes } = await scopes.read(target.virtualPath);
  const before = await decodeText(bytes, target.virtualPath);
  const lineEnd = lineEndOf(before.text);
  const oldText = withLineEnds(edit.oldText, lineEnd);
  const newText = withLineEnds(edit.newText, lineEnd);
  const start = findOnce(before.text, oldText, target.virtualPath);
  const text = before.text.slice(0, start) + newText + before.text.slice(start + oldText.length);
  const after = { text, hasMark: before.hasMark };
  const written = { bytes: encodeText(after), text: wholeText(after) };
  assertFits(target, written.bytes);
  return { bytes, before, after, written };
}

function findOnce(text: string, wanted: string, virtualPath: string): number {
  const first = text.indexOf(wanted);
  if (first === -1) {
    throw new ScopeError("edit_no_match", `old_text does not occur in "${virtualPath}".`, {
      hint: "Read the file and copy the text exactly, blanks and line ends included.",
      details: { matches: 0 },
    });
  }
  // Overlapping ones too: each is a place that could be meant.
  let matches = 0;
  for (let at = first; at !== -1; at = text.indexOf(wanted, at + 1)) matches++;
  if (matches === 1) return first;
  throw new ScopeError("edit_many_matches", `old_text occurs ${matches} times in "${virtualPath}".`, {
    hint: "Give more of what surrounds the place that you mean.",
    details: { matches },
  });
}
