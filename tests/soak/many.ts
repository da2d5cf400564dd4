import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeHost } from "../../src/host/node-host.ts";
import { compile, run } from "../../src/index.ts";
import { type Script, scriptedModel } from "../../src/testing/index.ts";
import { runsIn } from "../records.ts";
import { type Census, takeCensus, Watched } from "./census.ts";

const script: Script = ({ turn, worker }) => {
  if (worker !== "main" || turn > 2) return { text: '{ "a": 1 }' };
  return { calls: turn === 1 ? [{ tool: "list_files", args: {} }] : [{ tool: "helper", args: { input: "x" } }] };
};
const create = async () => scriptedModel(script, "test:model");
const provider = { name: "test", description: "for tests", keyVariables: [], create };

/** Programs that are compiled and run one after another, each with a text of its own, on a host of its own. */
export class Programs implements Disposable {
  readonly #root = realpathSync(mkdtempSync(join(tmpdir(), "llm-do-many-")));
  readonly #distinct: number;
  readonly #watched = new Watched();
  #number = 0;

  /** `distinct`: after so many, a schema comes again. */
  constructor(distinct: number) {
    this.#distinct = distinct;
    mkdirSync(join(this.#root, "in"));
    writeFileSync(join(this.#root, "helper.worker"), "---\ndescription: h\n---\nHelp with {{ input }}.\n");
  }

  async play(times: number): Promise<void> {
    for (const end = this.#number + times; this.#number < end; this.#number++) {
      const kind = this.#number % this.#distinct;
      writeFileSync(
        join(this.#root, "main.worker"),
        `---
description: Program ${this.#number}.
sandbox: { paths: { in: { root: ./in, mode: ro } } }
input: { f${kind}: string }
output: { a: number, b${kind}?: string }
toolsets: { filesystem: {}, helper: { _approval_config: { helper: { pre_approved: true } } } }
---
Number ${this.#number}: {{ f${kind} }}
`,
      );
      const environment = { LLM_DO_STATE_DIR: join(this.#root, "state") };
      const host = createNodeHost({ environment, workingDirectory: this.#root, homeDirectory: this.#root });
      const request = { target: this.#root, model: "test:model", providers: [provider], host };
      const { output, runId } = await run({ ...request, input: { [`f${kind}`]: "x" }, approval: { mode: "reject_all" } });
      if (JSON.stringify(output) !== '{"a":1}') throw new Error(`an output of ${JSON.stringify(output)}`);
      const broken = await compile({ ...request, set: ["toolsets=1"] });
      const compiled = await compile(request);
      if (broken.program || !compiled.program) throw new Error("a program that should not compile does, or the other way round");
      this.#watched.add(host, request, broken.diagnostics, compiled.program);
      const runs = runsIn(realpathSync(this.#root), join(this.#root, "state"));
      for (const name of [runId, "index.jsonl"]) rmSync(join(runs, name), { recursive: true, force: true });
    }
  }

  /** Counts what is left, and the files. */
  async census(): Promise<Census & { readonly files: readonly string[] }> {
    const census = await takeCensus(this.#watched, ({ kept, resources }) => kept === 0 && resources.length === 0);
    return { ...census, files: readdirSync(this.#root, { recursive: true, encoding: "utf8" }).sort() };
  }

  [Symbol.dispose](): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}
