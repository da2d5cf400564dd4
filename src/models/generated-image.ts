import { isRecord, type JsonValue } from "../protocol/json.ts";
import type { AssistantMessage, FilePart, ServerResultPart } from "../protocol/message.ts";
import { sha256 } from "../util/sha256.ts";

const prefixes: readonly (readonly [string, string])[] = [
  ["/9j/", "jpeg"],
  ["UklGR", "webp"],
];

/** The picture that a provider's result holds: a file of its own, so that the result holds its name and no bytes. */
export function takeImage(part: ServerResultPart): readonly [ServerResultPart, FilePart] | undefined {
  const data = part.name === "image_generation" && isRecord(part.value) ? part.value["result"] : undefined;
  if (typeof data !== "string" || data === "") return undefined;
  const bytes = Buffer.from(data, "base64");
  const kind = prefixes.find(([prefix]) => data.startsWith(prefix))?.[1] ?? "png";
  const name = `${part.id.replace(/[^\w-]/g, "_").slice(0, 80)}.${kind}`;
  const file = { name, mediaType: `image/${kind}`, bytes: bytes.length, sha256: sha256(bytes), data };
  return [
    { ...part, value: { file: name } },
    { type: "file", ...file },
  ];
}

/** The result as the provider gave it. */
export function giveImageBack(part: ServerResultPart, { parts }: AssistantMessage): JsonValue {
  const name = part.name === "image_generation" && isRecord(part.value) ? part.value["file"] : undefined;
  const file = parts.find((other) => other.type === "file" && other.name === name);
  return file?.type === "file" ? { result: file.data } : part.value;
}
