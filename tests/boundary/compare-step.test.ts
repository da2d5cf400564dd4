import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CandidateSource, parseCandidate, type StepOfProgram } from "../../src/boundary/candidate.ts";
import type { Case } from "../../src/boundary/case-file.ts";
import { compareStep, NothingToCompare } from "../../src/boundary/compare-step.ts";
import type { StepCases } from "../../src/boundary/step-cases.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { scriptedModel } from "../../src/testing/index.ts";

const worker = (output: string) => `---\ndescription: Sorts.\ninput: { message: string }\n${output}---\nSort it.\n`;
const tools = `
const unsure = (reason) => ({ [Symbol.for("llm-do.unsure")]: true, reason });
export const sort = ({ message }) => ({ kind: message.includes("hangs") ? "bug" : "wish" });
export const careful = ({ message }) => (message.includes("hangs") ? { kind: "bug" } : unsure("no word that decides"));
export const wrong = ({ message }) => ({ kind: message.length % 3 === 0 ? "bug" : "wish" });
export const broken = () => ({ kind: "other" });
`;

let root = "";
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "llm-do-compare-"));
});
afterAll(() => rm(root, { recursive: true }));

/** `answer`: that of the prompt. */
async function compare(
  names: readonly string[],
  given: { readonly again?: boolean; readonly text?: string; readonly judge?: string; readonly usd?: number } = {},
) {
  const { again = false, text, judge, usd } = given;
  await writeProgram(text ?? worker("output: { kind(enum): [bug, wish] }\n"));
  const model = scriptedModel((request) => {
    if (request.worker === "same") return { json: true };
    const usage = { inputTokens: 1000 };
    return text ? { text: "free" } : { json: { kind: request.lastUserText().includes("hangs") ? "bug" : "wish" }, usage };
  }, "test:model");
  const provider = { name: "test", description: "for tests", keyVariables: [], create: async () => model };
  const of: StepOfProgram = {
    ...{ root, target: root, step: "main", file: "main.worker", host: createNodeHost(), providers: [provider] },
    ...{ model: "test:model", trust: true },
  };
  const candidates = names.map((name): { name: string; source: CandidateSource } => ({ name, source: parseCandidate(name) }));
  const report = await compareStep({
    ...of,
    cases: stepCases(cases(text ? "free" : undefined)),
    candidates,
    again,
    ...(judge ? { judge } : {}),
    ...(usd === undefined ? {} : { usd, parallel: 1, prices: { "test:model": { input: 1, output: 0 } } }),
  });
  return { report, requests: model.requests.length };
}

function stepCases(all: readonly Case[]): StepCases {
  const readFile = async () => new Uint8Array();
  return { count: all.length, read: () => all, factsOf: async () => [], readFile };
}

async function writeProgram(text: string): Promise<void> {
  await writeFile(join(root, "main.worker"), text);
  const same = "---\ndescription: Same?\ninput: { expected: string, output: string }\noutput: boolean\n---\nSame?\n";
  await writeFile(join(root, "same.worker"), same);
  await writeFile(join(root, "tools.ts"), tools);
}

function cases(output?: string): readonly Case[] {
  return Array.from({ length: 30 }, (_, index) => {
    const message = index % 2 === 0 ? `it hangs ${"x".repeat(index)}` : `please ${"x".repeat(index)}`;
    return {
      worker: "main",
      input: { message },
      files: [],
      fragments: [],
      output: output ?? { kind: index % 2 === 0 ? "bug" : "wish" },
    };
  });
}

describe("compareStep", () => {
  it("asks code and no model, and changes nothing of the program", async () => {
    const { report, requests } = await compare(["tools.ts:sort", "tools.ts:wrong"]);
    expect(requests).toBe(0);
    expect(report.candidates.map(({ agreement, usdPerThousand }) => [agreement.hits, usdPerThousand])).toEqual([
      [30, 0],
      [expect.any(Number), 0],
    ]);
    const [, wrong] = report.candidates;
    expect(wrong?.judgement?.verdict).toBe("worse");
    expect(wrong?.disagreements.length).toBe(30 - (wrong?.agreement.hits ?? 0));
  });

  it("puts the noise floor first", async () => {
    const { report, requests } = await compare(["tools.ts:sort"], { again: true });
    expect(requests).toBe(30);
    expect(report.candidates.map(({ name, agreement }) => [name, agreement.hits])).toEqual([
      ["today's prompt", 30],
      ["tools.ts:sort", 30],
    ]);
  });

  it("counts code that is unsure, or whose output does not fit, and asks no model for it", async () => {
    const { report, requests } = await compare(["tools.ts:careful", "tools.ts:broken"]);
    expect(requests).toBe(0);
    const [careful, broken] = report.candidates;
    expect([careful?.unsure, careful?.agreement.count, careful?.agreement.hits]).toEqual([15, 15, 15]);
    expect([broken?.failed, broken?.agreement.hits]).toEqual([30, 0]);
  });

  it("leaves the program as it is", async () => {
    await compare(["tools.ts:sort"]);
    expect(await readFile(join(root, "main.worker"), "utf8")).toBe(worker("output: { kind(enum): [bug, wish] }\n"));
    expect((await readdir(root)).sort()).toEqual(["main.worker", "same.worker", "tools.ts"]);
  });

  it("takes another model", async () => {
    const { report, requests } = await compare(["model:test:model"]);
    expect([requests, report.candidates[0]?.agreement.hits]).toEqual([30, 30]);
  });

  it("asks no more than the dollars allow, and does not count the rest against the candidate", async () => {
    const { report, requests } = await compare(["model:test:model"], { usd: 0.0055 });
    // A thousand tokens are 0.001 dollars.
    expect(requests).toBeLessThanOrEqual(6);
    const [found] = report.candidates;
    expect(found?.agreement.count).toBeGreaterThanOrEqual(4);
    expect(found).toMatchObject({
      failed: 0,
      leftOut: 30 - (found?.agreement.count ?? 0),
      agreement: { lower: expect.any(Number) },
    });
    expect(found?.agreement.hits).toBe(found?.agreement.count);
  });

  it("reads cases as they are asked, and holds no more than are asked at a time and wait for an earlier one", async () => {
    await writeProgram(worker("output: { kind(enum): [bug, wish] }\n"));
    let [read, answered, most] = [0, 0, 0];
    const all = Array.from({ length: 10 }, () => cases()).flat();
    const found = await compareStep({
      ...{ root, target: root, step: "main", file: "main.worker", host: createNodeHost(), trust: true },
      cases: {
        ...stepCases(all),
        read: function* () {
          read = 0;
          for (const one of all) {
            most = Math.max(most, ++read - answered);
            yield one;
          }
        },
      },
      candidates: [{ name: "sort", source: parseCandidate("tools.ts:sort") }],
      parallel: 3,
      onProgress: (done) => {
        answered = done;
      },
    });
    expect(found).toMatchObject({ cases: 300, candidates: [{ agreement: { hits: 300, count: 300 } }] });
    // Each reading before the first answer ends at its first case.
    expect(most).toBeLessThanOrEqual(3 + 1);
  });

  it("refuses free text, unless a worker compares it", async () => {
    const text = worker("");
    await expect(compare(["model:test:model"], { text })).rejects.toThrow(NothingToCompare);
    const { report } = await compare(["model:test:model"], { text, judge: "same.worker" });
    expect(report.candidates[0]?.agreement.hits).toBe(30);
  });
});

describe("parseCandidate", () => {
  it.each([
    ["tools.ts:sort", { type: "code", reference: "tools.ts:sort" }],
    ["other.worker", { type: "worker", file: "other.worker" }],
    ["model:a:b", { type: "model", id: "a:b" }],
    ["git:HEAD~3", { type: "revision", name: "HEAD~3" }],
  ])("reads %s", (text, source) => expect(parseCandidate(text)).toEqual(source));
  it("refuses everything else", () => expect(() => parseCandidate("sort")).toThrow(/no candidate/));
});
