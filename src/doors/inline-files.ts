import type { RunRequest } from "../front/llm-do.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { JsonSchema } from "../protocol/tool.ts";
import { attachmentField } from "../toolsets/attachments.ts";

type InputWithFiles = Required<Pick<RunRequest, "attachments">> & { readonly input: JsonObject };

/**
 * Takes files that a client sends along as `data:` addresses out of an input. All other values of the field stay: they are paths in the
 * worker's scopes.
 */
export function takeInlineFiles(schema: JsonSchema, input: JsonObject): InputWithFiles {
  const field = attachmentField(schema);
  const given = field ? input[field.name] : undefined;
  const values = Array.isArray(given) ? given : [given];
  const attachments = values.flatMap((value, index) => {
    const bytes = typeof value === "string" ? readDataAddress(value) : undefined;
    return bytes ? [{ name: `file-${index + 1}`, bytes }] : [];
  });
  if (!field || attachments.length === 0 || attachments.length < values.length) return { input, attachments: [] };
  const { [field.name]: _, ...rest } = input;
  return { input: rest, attachments };
}

/** Reads `data:image/png;base64,…` (RFC 2397); undefined for any other text. */
function readDataAddress(text: string): Uint8Array | undefined {
  const [, data] = /^data:[^,]*;base64,([A-Za-z0-9+/=\s]*)$/i.exec(text) ?? [];
  return data === undefined ? undefined : Buffer.from(data, "base64");
}
