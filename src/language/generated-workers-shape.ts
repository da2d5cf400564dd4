import { record } from "./collection-shapes.ts";
import { text } from "./scalar-shapes.ts";
import { unsupported } from "./shape.ts";
import { programPath } from "./text-shapes.ts";
import { toolsetsShape } from "./toolsets-shape.ts";
import { workerKeys } from "./worker-keys.ts";

/** Where workers made in a run are, in the program's folder, if the manifest does not say. */
export const usualGeneratedFolder = "workers/generated";

const notYet = "workers cannot be made in a run yet";

const fields = {
  folder: {
    shape: programPath,
    default: usualGeneratedFolder,
    description: "Where workers made in a run are kept: each as `<name>/worker.worker` below it.",
  },
  model: { shape: unsupported(text(), notYet), description: "The model of a worker made in a run, where nobody names one." },
  toolsets: { shape: unsupported(toolsetsShape, notYet), description: "Its toolsets, where nobody names any." },
  sandbox: { shape: unsupported(workerKeys.sandbox.shape, notYet), description: "What it can reach, where nobody says." },
  limits: { shape: unsupported(workerKeys.limits.shape, notYet), description: "How much it may spend." },
} as const;

/** `generated_workers`: what holds for workers that are made in a run. */
export const generatedWorkersShape = record(fields, { note: "write `{ folder: workers/generated }`" });
