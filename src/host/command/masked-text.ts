import { readSmall } from "./git-repositories.ts";
import { maskLines } from "./mask-credentials.ts";
import type { Mount } from "./mount.ts";

const maxBytes = 200_000;

/** Shows a text without the credentials in it. None where nothing is to be masked, and for what is no text. */
export function toMaskedText(path: string): readonly Mount[] {
  const content = readSmall(path, maxBytes)?.toString();
  if (content === undefined || content.includes("\0")) return [];
  const masked = maskLines(content);
  return masked === content ? [] : [{ kind: "content", path, content: masked }];
}
