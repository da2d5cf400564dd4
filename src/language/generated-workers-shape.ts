import { record } from "./collection-shapes.ts";
import { text } from "./scalar-shapes.ts";
import { unsupported } from "./shape.ts";
import { programPath } from "./text-shapes.ts";
import { toolsetsShape } from "./toolsets-shape.ts";
import { workerKeys } from "./worker-keys.ts";

/** The default folder of workers made in a run, relative to the program's. */
export const usualGeneratedFolder = "workers/generated";

const notYet = "workers cannot be made in a run yet";

const fields = {
  folder: {
    shape: programPath,
    default: usualGeneratedFolder,
    description: "Where workers made in a run are kept: each as `<name>/worker.worker` below it.",
  },
  model: { shape: unsupported(text(), notYet), description: "The default model of a worker made in a run." },
  toolsets: { shape: unsupported(toolsetsShape, notYet), description: "Its default toolsets." },
  sandbox: { shape: unsupported(workerKeys.sandbox.shape, notYet), description: "What it can reach by default." },
  limits: { shape: unsupported(workerKeys.limits.shape, notYet), description: "How much it may spend." },
} as const;

/** `generated_workers`: what holds for workers that are made in a run. */
export const generatedWorkersShape = record(fields, { note: "write `{ folder: workers/generated }`" });
