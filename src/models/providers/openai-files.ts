import { isRecord } from "../../protocol/json.ts";
import type { AssistantMessage, FilePart } from "../../protocol/message.ts";
import { madeFile, readMadeFile } from "../library/made-file.ts";
import type { LibrarySettings } from "./create-library-provider.ts";

/** The files that code wrote in a container at OpenAI: the answer's text cites those that are meant to be handed over. */
export async function downloadFromOpenai(
  { baseURL, apiKey, fetch }: LibrarySettings,
  { parts }: AssistantMessage,
  signal: AbortSignal,
): Promise<readonly FilePart[]> {
  const found = new Map<string, FilePart>();
  for (const part of parts) {
    for (const { container, id, name } of part.type === "text" ? citedFiles(part.providerData) : []) {
      if (found.has(id)) continue;
      const path = `containers/${encodeURIComponent(container)}/files/${encodeURIComponent(id)}/content`;
      const response = await fetch(`${baseURL.replace(/\/+$/, "")}/${path}`, {
        headers: apiKey ? { authorization: `Bearer ${apiKey}` } : {},
        signal,
      });
      if (!response.ok) throw new Error(`${name}: HTTP ${response.status}`);
      found.set(id, madeFile(name, response.headers.get("content-type"), await readMadeFile(response.body)));
    }
  }
  return [...found.values()];
}

function citedFiles(data: unknown): { readonly container: string; readonly id: string; readonly name: string }[] {
  const own = isRecord(data) ? data["openai"] : undefined;
  const annotations = isRecord(own) && Array.isArray(own["annotations"]) ? own["annotations"] : [];
  return annotations.flatMap((annotation: unknown) => {
    if (!isRecord(annotation) || annotation["type"] !== "container_file_citation") return [];
    const { container_id: container, file_id: id, filename: name } = annotation;
    return typeof container === "string" && typeof id === "string" ? [{ container, id, name: String(name ?? id) }] : [];
  });
}
