import { basename } from "node:path";
import { isSettled, statOf, versionOf } from "../../command/look.ts";
import type { Mount } from "../mount.ts";
import { readSmall } from "./git-repositories.ts";
import { maskLines } from "./mask-credentials.ts";

const maxBytes = 200_000;

/** Versions of files in which nothing is to be masked, by their paths: texts of repositories change seldom. */
const harmless = new Map<string, string>();
const mostHarmless = 5000;

/** Shows a text without the credentials in it. None where nothing is to be masked, and for what is no text. */
export function toMaskedText(path: string): readonly Mount[] {
  const stats = statOf(path);
  if (stats === undefined || harmless.get(path) === versionOf(stats)) return [];
  const content = readSmall(path, maxBytes)?.toString();
  const masked = content === undefined || content.includes("\0") ? content : maskLines(content, basename(path));
  if (masked !== undefined && masked !== content) return [{ kind: "content", path, content: masked }];
  if (harmless.size >= mostHarmless) harmless.clear();
  if (content !== undefined && isSettled(stats)) harmless.set(path, versionOf(stats));
  return [];
}
