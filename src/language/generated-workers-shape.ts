import { record } from "./collection-shapes.ts";
import { programPath } from "./path-shape.ts";
import { text } from "./scalar-shapes.ts";
import { toolsetsShape } from "./toolsets-shape.ts";
import { workerKeys } from "./worker-keys.ts";

/** Where workers made in a run are, in the program's folder, if the manifest does not say. */
export const usualGeneratedFolder = "workers/generated";

const fields = {
  folder: {
    shape: programPath(),
    default: usualGeneratedFolder,
    description: "Where workers made in a run are kept: each as `<name>/worker.worker` below it.",
  },
  model: { shape: text(), description: "The model of a worker made in a run, where nobody names one." },
  toolsets: { shape: toolsetsShape, description: "Its toolsets, where nobody names any." },
  sandbox: { shape: workerKeys.sandbox.shape, description: "What it can reach, where nobody says." },
  limits: { shape: workerKeys.limits.shape, description: "How much it may spend." },
} as const;

/** `generated_workers`: what holds for workers that are made in a run. */
export const generatedWorkersShape = record(fields, { note: "write `{ folder: workers/generated }`" });
