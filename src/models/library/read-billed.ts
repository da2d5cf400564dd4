import { isRecord, recordsIn } from "../../protocol/json.ts";
import type { Modalities, ReportedUsage } from "../model.ts";
import type { LibraryAnswer } from "./library-answer.ts";

type Answer = Pick<LibraryAnswer, "usage" | "providerMetadata">;
type Body = Readonly<Record<string, unknown>>;

/** Returns what was billed beside plain tokens: searches, tokens of other kinds than text, and the service tier. */
export function readBilled({ usage: { raw }, providerMetadata = {} }: Answer, asked: string | undefined): Partial<ReportedUsage> {
  const wire: Body = isRecord(raw) ? raw : {};
  const own = Object.values(providerMetadata).filter(isRecord);
  const reported = [wire["service_tier"], wire["serviceTier"], ...own.map(({ serviceTier }) => serviceTier)];
  const serviceTier = reported.map(nameOf).find((tier) => tier !== undefined) ?? asked;
  const webSearches = Math.max(0, ...own.map(({ groundingMetadata }) => searchesIn(groundingMetadata)));
  const modalities = readModalities(wire);
  return {
    ...(webSearches > 0 ? { webSearches } : {}),
    ...(serviceTier === undefined ? {} : { serviceTier }),
    ...(Object.keys(modalities).length > 0 ? { modalities } : {}),
  };
}

/** Bedrock has it in a record. */
function nameOf(tier: unknown): string | undefined {
  return typeof tier === "string" ? tier : isRecord(tier) ? nameOf(tier["type"]) : undefined;
}

/** Google bills an answer that rests on what it found. */
function searchesIn(grounding: unknown): number {
  if (!isRecord(grounding)) return 0;
  const { webSearchQueries: queries, groundingChunks: chunks } = grounding;
  return Array.isArray(queries) && queries.length > 0 ? queries.length : recordsIn(chunks).length > 0 ? 1 : 0;
}

function readModalities(wire: Body): Modalities {
  const audio = (name: string) => {
    const details = wire[name];
    return isRecord(details) ? countOf(details["audio_tokens"]) : 0;
  };
  const counts = {
    audioInput: countOfKind(wire["promptTokensDetails"], "AUDIO") + audio("prompt_tokens_details"),
    audioOutput: countOfKind(wire["candidatesTokensDetails"], "AUDIO") + audio("completion_tokens_details"),
    imageOutput: countOfKind(wire["candidatesTokensDetails"], "IMAGE"),
    videoOutput: countOfKind(wire["candidatesTokensDetails"], "VIDEO"),
  };
  return Object.fromEntries(Object.entries(counts).filter(([, tokens]) => tokens > 0));
}

function countOfKind(details: unknown, kind: string): number {
  return recordsIn(details).reduce((sum, detail) => (detail["modality"] === kind ? sum + countOf(detail["tokenCount"]) : sum), 0);
}

function countOf(tokens: unknown): number {
  return typeof tokens === "number" && Number.isSafeInteger(tokens) && tokens > 0 ? tokens : 0;
}
