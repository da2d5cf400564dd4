import type { FilesV4 } from "@ai-sdk/provider";
import { isRecord } from "../../protocol/json.ts";
import type { AssistantMessage, FilePart } from "../../protocol/message.ts";
import { madeFile, readMadeFile } from "../library/made-file.ts";

/** The files that code wrote at Anthropic: results name them by id, and the Files API has them. */
export async function downloadFromAnthropic(
  files: FilesV4,
  { parts }: AssistantMessage,
  abortSignal: AbortSignal,
): Promise<readonly FilePart[]> {
  const found: FilePart[] = [];
  for (const id of parts.flatMap((part) => (part.type === "server-result" ? fileIds(part.value) : []))) {
    const file = { anthropic: id };
    const about = await files.getFileMetadata?.({ file, abortSignal });
    const download = await files.downloadFile?.({ file, abortSignal });
    if (!download) continue;
    const mediaType = about?.mediaType ?? download.mediaType;
    found.push(madeFile(about?.filename ?? id, mediaType, await readMadeFile(download.content)));
  }
  return found;
}

function fileIds(value: unknown): string[] {
  const outputs = isRecord(value) && Array.isArray(value["content"]) ? value["content"] : [];
  return outputs.flatMap((output: unknown) =>
    isRecord(output) && typeof output["file_id"] === "string" ? [output["file_id"]] : [],
  );
}
