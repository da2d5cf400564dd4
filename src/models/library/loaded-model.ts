import type { Patience } from "../../host/patience.ts";
import type { AssistantMessage, FilePart } from "../../protocol/message.ts";
import { getOrMake } from "../../util/get-or-make.ts";
import { type Timeouts, toPatience } from "../patience.ts";
import type { LanguageModel } from "./from-language-model.ts";

/** A model of a provider library. */
export interface LoadedModel {
  readonly model: LanguageModel;
  /** Fetches the files that the provider made for an answer and keeps on its side. Rejects if one cannot be had. */
  download?(message: AssistantMessage, signal: AbortSignal): Promise<readonly FilePart[]>;
}

/** Returns the model whose requests wait so long. Absent: the defaults. */
export type OpenModel = (timeouts?: Timeouts) => Promise<LoadedModel>;

/**
 * Resolves with what opens a model once for all requests with the same time-outs, as a library has no other way to pass them on
 * to its `fetch`. The model with the defaults is opened at once. Rejects if that fails.
 */
export async function openOnce(open: (patience: Patience) => Promise<LoadedModel>): Promise<OpenModel> {
  const models = new Map<string, Promise<LoadedModel>>();
  const opened: OpenModel = (timeouts = {}) => getOrMake(models, JSON.stringify(timeouts), () => open(toPatience(timeouts)));
  await opened();
  return opened;
}
