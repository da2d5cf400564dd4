import { workerKeys } from "../worker-keys.ts";
import { record } from "./collection-shapes.ts";
import { text } from "./scalar-shapes.ts";
import { programPath } from "./text-shapes.ts";
import { toolsetsShape } from "./toolsets-shape.ts";

/** The default folder of workers made in a run, relative to the program's. */
export const usualGeneratedFolder = "workers/generated";

const fields = {
  folder: {
    shape: programPath,
    default: usualGeneratedFolder,
    description: "Where workers made in a run are kept: each as `<name>/worker.worker` below it.",
  },
  model: { shape: text(), description: "The model of a worker made in a run that names none; another than its creator's, too." },
  toolsets: { shape: toolsetsShape, description: "Its toolsets where it names none, as far as its creator has them." },
  sandbox: {
    shape: workerKeys.sandbox.shape,
    description: "What it can reach where it says nothing of it, as far as its creator can.",
  },
  limits: { shape: workerKeys.limits.shape, description: "How much it may spend. Its creator's limits hold, too." },
} as const;

/** `generated_workers`: what holds for workers that are made in a run. */
export const generatedWorkersShape = record(fields, { note: "write `{ folder: workers/generated }`" });
