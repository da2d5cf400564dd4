import { isRecord } from "../../protocol/json.ts";
import type { AnswerRepair } from "./answer-repair.ts";
import { checkDepth } from "./bounds.ts";

/** Collects a body, and passes it on repaired. One that is no JSON object stays as it is. */
export function repairBody(repair: AnswerRepair["body"]): TransformStream<Uint8Array, Uint8Array> {
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  return new TransformStream({
    transform(chunk) {
      pieces.push(decoder.decode(chunk, { stream: true }));
    },
    flush(output) {
      const text = pieces.join("") + decoder.decode();
      checkDepth(text);
      output.enqueue(new TextEncoder().encode(repairText(text, repair)));
    },
  });
}

function repairText(text: string, repair: AnswerRepair["body"]): string {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  const repaired = isRecord(body) ? repair(body) : body;
  return repaired === body ? text : JSON.stringify(repaired);
}
