import type { FileFacts, InspectedPath, Scopes } from "../../host/scopes.ts";
import { ScopeError } from "../../host/scopes.ts";
import type { Preview } from "../../protocol/approval.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { sha256 } from "../../util/sha256.ts";
import { toolFailure } from "../toolset.ts";
import { asksToRead, type FileAccess, type FileTool, type PreparedWork } from "./file-work.ts";
import { assertWellFormed, decodeText, encodeText, type FileText, formatCount, lineEndOf, withLineEnds } from "./text.ts";
import { inspectVisible } from "./visible-scopes.ts";
import { assertFits } from "./write-file.ts";

export const editFile: FileTool = {
  name: "edit_file",
  writes: true,
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

interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

interface PlannedEdit {
  readonly before: FileText;
  readonly after: FileText;
}

async function prepare(args: JsonObject, access: FileAccess): Promise<PreparedWork> {
  const edit = { oldText: String(args["old_text"]), newText: String(args["new_text"]) };
  if (edit.oldText === edit.newText) throw toolFailure("invalid_arguments", "old_text and new_text are the same");
  assertWellFormed("new_text", edit.newText);
  // To find a file that is there, with the nearest names where it is not, is to read; then it must be writable too.
  await inspectVisible(access, String(args["path"]), "read");
  const target = await inspectVisible(access, String(args["path"]), "write");
  const { virtualPath, scope, protection, facts } = target;
  const plan = await planEdit(access.scopes, target, edit).catch((error: unknown) => new NoPlan(error));
  // Whether a text occurs in a file, and how often, is part of what it holds: then an answer comes only after the question.
  if (plan instanceof NoPlan && !asksToRead(scope, protection)) throw plan.reason;
  return {
    canonicalArgs: { path: virtualPath, old_text: edit.oldText, new_text: edit.newText },
    facts: { scope: scope.name, file: facts?.identity ?? null },
    ...(plan instanceof NoPlan ? {} : { content: { now: { scope: scope.name, replaces: sha256(plan.before.text) } } }),
    work: {
      access: "edit",
      virtualPath,
      scopes: [scope],
      protection,
      description: `Edit ${virtualPath}: replace ${formatCount(edit.oldText.length)} characters by ${formatCount(edit.newText.length)}`,
      preview: plan instanceof NoPlan ? explainNoPlan(edit) : toDiff(virtualPath, plan),
      execute: (now) => applyEdit(now.scopes, { target, facts, plan }),
    },
  };
}

class NoPlan {
  readonly reason: unknown;
  constructor(reason: unknown) {
    this.reason = reason;
  }
}

interface Application {
  readonly target: InspectedPath;
  readonly facts: FileFacts | undefined;
  readonly plan: PlannedEdit | NoPlan;
}

async function applyEdit(scopes: Scopes, { target, facts, plan }: Application): Promise<JsonObject> {
  if (plan instanceof NoPlan) throw plan.reason;
  const written = await scopes.write(target.virtualPath, encodeText(plan.after), { expect: facts?.identity });
  return { path: target.virtualPath, bytes: written.bytes, replaced: 1 };
}

async function planEdit(scopes: Scopes, target: InspectedPath, edit: Edit): Promise<PlannedEdit> {
  const { bytes } = await scopes.read(target.virtualPath);
  const before = await decodeText(bytes, target.virtualPath);
  const lineEnd = lineEndOf(before.text);
  const oldText = withLineEnds(edit.oldText, lineEnd);
  const newText = withLineEnds(edit.newText, lineEnd);
  const start = findOnce(before.text, oldText, target.virtualPath);
  const text = before.text.slice(0, start) + newText + before.text.slice(start + oldText.length);
  const after = { text, hasMark: before.hasMark };
  assertFits(target, encodeText(after));
  return { before, after };
}

function findOnce(text: string, wanted: string, virtualPath: string): number {
  const first = text.indexOf(wanted);
  if (first === -1) {
    throw new ScopeError("edit_no_match", `old_text does not occur in "${virtualPath}".`, {
      hint: "Read the file and copy the text exactly, blanks and line ends included.",
      details: { matches: 0 },
    });
  }
  const matches = countMatches(text, wanted);
  if (matches === 1) return first;
  throw new ScopeError("edit_many_matches", `old_text occurs ${matches} times in "${virtualPath}".`, {
    hint: "Give more of what surrounds the place that you mean.",
    details: { matches },
  });
}

/** Overlapping ones too: each is a place that could be meant. */
function countMatches(text: string, wanted: string): number {
  let matches = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + 1)) matches++;
  return matches;
}

function toDiff(path: string, plan: PlannedEdit): Preview {
  return { type: "diff", path, before: plan.before.text, after: plan.after.text };
}

function explainNoPlan(edit: Edit): Preview {
  return {
    type: "text",
    text: `This edit would fail, and tell so.\n--- old_text\n${edit.oldText}\n--- new_text\n${edit.newText}`,
  };
}
