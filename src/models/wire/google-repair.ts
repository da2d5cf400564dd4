import { isRecord, recordsIn } from "../../protocol/json.ts";
import { AnswerRefusal } from "./bounds.ts";
import { count, flag, kept, list, parts, record, text, unread } from "./fit.ts";
import type { AddedText } from "./join-events.ts";
import type { AnswerRepair, Body } from "./repair.ts";

/** Google writes no member whose value is zero, false or empty. */
const details = list(record({ modality: text, tokenCount: (value) => count(value) ?? 0 }, ["modality"]));

const usage = record({
  ...{ promptTokenCount: count, candidatesTokenCount: count, totalTokenCount: count, cachedContentTokenCount: count },
  ...{ thoughtsTokenCount: count, toolUsePromptTokenCount: count, trafficType: text, serviceTier: text },
  ...{ promptTokensDetails: details, cacheTokensDetails: details },
  ...{ candidatesTokensDetails: details, toolUsePromptTokensDetails: details },
});

const place = record({ uri: text, title: text, text, placeId: text, fileSearchStore: text, customMetadata: unread });

const grounding = record({
  ...{ webSearchQueries: list(text), imageSearchQueries: list(text), retrievalQueries: unread, searchEntryPoint: unread },
  groundingChunks: list(
    record({
      web: record({ uri: text, title: text }, ["uri"]),
      image: record({ sourceUri: text, imageUri: text, title: text, domain: text }, ["sourceUri", "imageUri"]),
      ...{ retrievedContext: place, maps: place },
    }),
  ),
  ...{ groundingSupports: unread, retrievalMetadata: unread },
});

const part = record({ thought: flag, thoughtSignature: text, functionCall: fitCall, executableCode: kept });

const candidate = record({
  ...{ finishMessage: text, safetyRatings: unread, groundingMetadata: grounding, urlContextMetadata: unread },
  content: (value) => (isRecord(value) ? record({ parts: parts(part) })(value) : (value ?? undefined)),
});

const answer = record({
  responseId: text,
  candidates: parts(candidate),
  usageMetadata: usage,
  promptFeedback: record({ safetyRatings: unread, blockReason: text }),
});

/** The library takes a part with a call that it cannot read for one with nothing in it. */
function fitCall(call: unknown): unknown {
  if (call === undefined || call === null) return undefined;
  if (!isRecord(call) || typeof (call["name"] ?? "") !== "string")
    throw new AnswerRefusal("bad_response", "the answer makes a call without a name");
  return record({ id: text })(call);
}

/** Repairs answers of Gemini, whole and streamed, which have one form. */
export const googleRepair: AnswerRepair = {
  body: (body) => void answer(body),
  events: () => ({
    event(event) {
      answer(event);
      return true;
    },
    textOf,
  }),
  asEvents: (body) => [body],
};

function textOf({ candidates, error }: Body): AddedText | undefined {
  const [found, another] = recordsIn(candidates);
  const content = found?.["content"];
  const [said, more] = recordsIn(isRecord(content) ? content["parts"] : undefined);
  const isText = said && !more && !another && !error && !found?.["finishReason"] && !found?.["groundingMetadata"];
  if (!isText || typeof said["text"] !== "string" || said["thoughtSignature"]) return undefined;
  return { holder: said, member: "text", part: said["thought"] === true };
}
