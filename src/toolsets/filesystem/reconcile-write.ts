import { ScopeError, type Scopes } from "../../host/scopes/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { sha256 } from "../../util/sha256.ts";
import type { PrepareAccess, Reconciliation, RecordedPreparation } from "../toolset.ts";

/** The bytes of a file, and the text that they are in UTF-8 where it is known. */
export interface FileContent {
  readonly bytes: Uint8Array;
  readonly text: string | undefined;
}

/**
 * Digests of what a file holds before and after a call that writes it; none of a content with a secret. `before` is null for a new file,
 * and undefined if it is unreadable.
 */
export function toRecorded(
  { digestToRecord = sha256 }: Pick<PrepareAccess, "digestToRecord">,
  before: FileContent | null | undefined,
  after: FileContent,
): JsonObject {
  const digest = ({ bytes, text }: FileContent) => {
    if (text !== undefined) return digestToRecord(text);
    return digestToRecord(toText(bytes)) === undefined ? undefined : sha256(bytes);
  };
  const [was, is] = [before && digest(before), digest(after)];
  return { ...(was === undefined ? {} : { before: was }), ...(is === undefined ? {} : { after: is }) };
}

/** UTF-8; what is none becomes a replacement character. */
export function toText(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Compares what a file holds now with what a call found, and with what it would have left. `tool` names the file tool. */
export async function reconcileWrite(
  tool: string,
  { canonicalArgs, recorded = {} }: RecordedPreparation,
  { scopes }: Pick<PrepareAccess, "scopes">,
): Promise<Reconciliation> {
  const { before, after } = recorded;
  const path = String(canonicalArgs["path"]);
  const bytes = await readOrNothing(scopes, path);
  if (bytes === undefined || after === undefined) return "unknown";
  const now = bytes && sha256(bytes);
  if (bytes && now === after) {
    const result = tool === "edit_file" ? { replaced: 1 } : { created: before === null };
    return { done: { path, bytes: bytes.length, ...result } };
  }
  return now === before ? "not-done" : "unknown";
}

/** Null for a file that does not exist; undefined for one that cannot be read. */
async function readOrNothing(scopes: Scopes, path: string): Promise<Uint8Array | null | undefined> {
  try {
    return (await scopes.read(path)).bytes;
  } catch (thrown) {
    return thrown instanceof ScopeError && thrown.type === "not_found" ? null : undefined;
  }
}
