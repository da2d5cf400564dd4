/** The sources that can name a worker's model. A missing or blank value counts as unset. */
export interface ModelCandidates {
  /** The worker's own `model`. */
  readonly worker?: string | undefined;
  /** `--model`, or the API's `model`: a default for the whole run. */
  readonly run?: string | undefined;
  /** The manifest's `model`. */
  readonly manifest?: string | undefined;
  /** The variable `LLM_DO_MODEL`. */
  readonly environment?: string | undefined;
  /** The default of the user's configuration. */
  readonly user?: string | undefined;
}

/** The source of a worker's model, in the words that are shown. */
export type ModelSource = "worker" | "--model" | "manifest" | "LLM_DO_MODEL" | "user";

export interface SelectedModel {
  /** As it was written, trimmed. */
  readonly id: string;
  readonly source: ModelSource;
}

const precedence: readonly (readonly [keyof ModelCandidates, ModelSource])[] = [
  ["worker", "worker"],
  ["run", "--model"],
  ["manifest", "manifest"],
  ["environment", "LLM_DO_MODEL"],
  ["user", "user"],
];

/** The model of one worker: the first of its own, `--model`, the manifest's, `LLM_DO_MODEL`, the user's default. A caller's is never inherited. */
export function selectModel(candidates: ModelCandidates): SelectedModel | undefined {
  for (const [key, source] of precedence) {
    const id = candidates[key]?.trim();
    if (id) return { id, source };
  }
  return undefined;
}
