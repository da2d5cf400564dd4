// llm-do as an installed package: `main` compiled once, with gate, events and, where not said otherwise, the journal on disk.
import { join } from "node:path";
import { compile, run } from "llm-do";
import { type Arm, question } from "./arm.ts";

interface Variant {
  readonly name: string;
  /** A worker of the program. `pure`: its tool has no effect, so that nothing waits for the disk. */
  readonly worker: "main" | "pure";
  readonly journal?: false;
}

const variants: readonly Variant[] = [
  { name: "llm-do", worker: "pure" },
  { name: "llm-do, tool with effects", worker: "main" },
  { name: "llm-do, no journal", worker: "pure", journal: false },
];

export const ours: readonly Arm[] = variants.map(({ name, worker, ...about }) => ({
  name,
  kinds: ["turns", "calls", "children", "text"],
  prepare: async (baseUrl) => {
    process.env["BENCH_URL"] = baseUrl;
    const programs = new Map<string, ReturnType<typeof compile>>();
    return async (model, { kind }) => {
      if (!programs.has(model)) {
        const target = join(import.meta.dirname, `program/${worker}.worker`);
        programs.set(model, compile({ target, model: `bench:${model}`, trust: true, toRun: true }));
      }
      const { program, diagnostics } = (await programs.get(model)) ?? {};
      if (!program) throw new Error(JSON.stringify(diagnostics));
      let events = 0;
      const { output } = await run({
        program,
        input: question,
        approval: { mode: "reject_all" },
        limits: { turns: 1000, parallel: 64 },
        deltas: kind === "text",
        onEvent: () => events++,
        ...about,
      });
      if (events === 0) throw new Error("no events");
      return String(output);
    };
  },
}));
