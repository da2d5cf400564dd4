// llm-do as an installed package: compiled once, with gate, events and, where not said otherwise, the journal on disk.
import { join } from "node:path";
import { compile, run } from "llm-do";
import { type Arm, type Case, modelOf, pdfName, pdfOf, question, toolsOf } from "../arm.ts";

function workerOf(one: Case): string {
  if (one.kind === "effects" || one.kind === "children" || one.kind === "pdf") return one.kind;
  return toolsOf(one)[0] ?? "plain";
}

function createArm(name: string, about: { readonly journal?: false }): Arm {
  return {
    name,
    prepare: async (baseUrl) => {
      process.env["BENCH_URL"] = baseUrl;
      const programs = new Map<string, ReturnType<typeof compile>>();
      const programOf = (one: Case) => {
        const target = join(import.meta.dirname, `../program/${workerOf(one)}.worker`);
        const model = `bench:${modelOf(one)}`;
        const known = programs.get(model) ?? compile({ target, model, trust: true, toRun: true });
        programs.set(model, known);
        return known;
      };
      return async (one) => {
        const { program, diagnostics } = await programOf(one);
        if (!program) throw new Error(JSON.stringify(diagnostics));
        let events = 0;
        const { output } = await run({
          program,
          input: question,
          approval: { mode: "reject_all" },
          limits: { turns: 1000, parallel: 64 },
          deltas: one.kind === "text",
          onEvent: () => events++,
          ...(one.kind === "pdf" ? { attachments: [{ name: pdfName, bytes: pdfOf() }] } : {}),
          ...about,
        });
        if (events === 0) throw new Error("no events");
        return String(output);
      };
    },
  };
}

export const arm = createArm("llm-do", {});
export const withoutJournal: Arm = { ...createArm("llm-do, no journal", { journal: false }), floor: true };
