import { type ContentBlock, type ReadResourceResult, type Resource, ResourceNotFoundError } from "@modelcontextprotocol/server";
import type { RunOutput } from "../../front/llm-do.ts";
import type { Artifact } from "../../protocol/message.ts";

/** Most files that are kept to be read, the newest ones. */
const mostFiles = 100;
/** Characters of base64: a larger picture is a link alone. */
const longestPicture = 4_000_000;

/** The files that came of the runs of one `llm-do mcp`, as resources. A client reads no other file. */
export interface KeptFiles {
  /** Returns links to the files of a run, and its pictures. */
  keep(run: Pick<RunOutput, "runId" | "artifacts">): ContentBlock[];
  list(): Resource[];
  /** Throws a `ResourceNotFoundError`. */
  read(uri: string): ReadResourceResult;
}

export function createKeptFiles(): KeptFiles {
  const files = new Map<string, Artifact>();
  const describe = (uri: string, { name, mediaType, bytes }: Artifact) => ({ uri, name, mimeType: mediaType, size: bytes });
  const keep = (uri: string, file: Artifact) => {
    files.set(uri, file);
    const [oldest] = files.keys();
    if (files.size > mostFiles && oldest !== undefined) files.delete(oldest);
  };
  return {
    keep: ({ runId, artifacts }) =>
      artifacts.flatMap((file): ContentBlock[] => {
        const uri = `llm-do://runs/${runId}/${encodeURIComponent(file.name)}`;
        keep(uri, file);
        const link: ContentBlock = { type: "resource_link", ...describe(uri, file) };
        const isPicture = file.mediaType.startsWith("image/") && file.data.length <= longestPicture;
        return isPicture ? [{ type: "image", data: file.data, mimeType: file.mediaType }, link] : [link];
      }),
    list: () => [...files].map(([uri, file]) => describe(uri, file)),
    read: (uri) => {
      const file = files.get(uri);
      if (!file) throw new ResourceNotFoundError(uri);
      return { contents: [{ uri, mimeType: file.mediaType, blob: file.data }] };
    },
  };
}
