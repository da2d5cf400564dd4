import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sayJudgement } from "../../src/boundary/compare.ts";
import { compare, run } from "../../src/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { sha256 } from "../../src/util/sha256.ts";
import { runCli } from "../cli/run-cli.ts";

/**
 * Three workers whose noise is known, with 400 recorded calls each: `sure` gives one answer for a message, `noisy` gives the other of two in
 * 10 % of its answers, `text` gives free text. What the prompt answers today is drawn anew for each seed.
 */
const seeds = Number(process.env["LLM_DO_SEEDS"] ?? 1);
const recorded = 400;
const noise = 0.1;
/** 10 % of the recorded answers are wrong, too. Two answers are equal where both are right, or both are wrong. */
const selfAgreement = (1 - noise) ** 2 + noise ** 2;

const folder = mkdtempSync(join(tmpdir(), "llm-do-noise-"));
const target = join(folder, "program");
const store = join(folder, "store");
const worker = (output: string) => `---\ndescription: Sorts.\ninput: { message: string }\n${output}---\nSort it.\n`;
const sorts = "output: { kind(enum): [bug, wish] }\n";
const files = {
  "main.worker": "---\ndescription: Asks all.\ncode: tools.ts:ask_all\ntoolsets: { sure: {}, noisy: {}, text: {} }\n---\n",
  "sure.worker": worker(sorts),
  "noisy.worker": worker(sorts),
  "text.worker": worker(""),
  // `planted` is wrong about 7 of 100 messages. `careless` agrees with 75 of 100 recorded answers of `noisy`: it is worse by 7 points.
  "tools.ts": `const right = (message) => (message.startsWith("hangs") ? "bug" : "wish");
const wrong = (message) => (message.startsWith("hangs") ? "wish" : "bug");
const numberOf = (message) => Number(message.split(" ")[1]);
export async function ask_all(_, runtime) {
  const rows = Array.from({ length: ${recorded} }, (_, index) => ({ message: (index % 2 === 0 ? "hangs " : "please ") + index }));
  for (const name of ["sure", "noisy", "text"]) await runtime.map(name, rows);
  return "done";
}
export const planted = ({ message }) => ({ kind: numberOf(message) % 14 === 3 ? wrong(message) : right(message) });
export const careless = ({ message }) => {
  const index = numberOf(message);
  return { kind: (5 * index + 2 * Math.floor(index / 10)) % 16 < 3 ? wrong(message) : right(message) };
};
`,
};

/** Absent while calls are recorded. */
let seed: number | undefined;
const model = scriptedModel((request) => {
  const [, word = "", index = ""] = /(hangs|please) (\d+)/.exec(request.lastUserText()) ?? [];
  if (request.worker === "text") return { text: `About ${index}.` };
  const drawn = Number.parseInt(sha256(`${seed} ${index}`).slice(0, 8), 16) / 2 ** 32;
  const isWrong = request.worker === "noisy" && (seed === undefined ? Number(index) % 10 === 5 : drawn < noise);
  return { json: { kind: (word === "hangs") === isWrong ? "wish" : "bug" } };
}, "test:model");
const provider = { name: "test", description: "for tests", keyVariables: [], create: async () => model };
const chosen = { target, store, model: "test:model", providers: [provider], trust: true };
const casesOf = (step: string) => join(folder, `${step}.jsonl`);

beforeAll(async () => {
  mkdirSync(target);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(target, name), text);
  const { stopReason } = await run({ ...chosen, input: "go", approval: { mode: "approve_all" } });
  expect(stopReason).toBe("done");
  for (const step of ["sure", "noisy", "text"]) {
    const { exitCode, stderr } = await runCli(["calls", step, "--last", "400", "--out", casesOf(step)], {
      cwd: target,
      env: { LLM_DO_STORE: store },
    });
    expect(exitCode, stderr).toBe(0);
  }
}, 120_000);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Compares the first `limit` cases of a step with today's prompt and with a function. */
async function compareFirst(step: string, limit: number, code: string) {
  const request = { ...chosen, step, cases: casesOf(step), limit, again: true, with: [`tools.ts:${code}`] };
  const [floor, found] = (await compare(request)).candidates;
  if (!floor || !found?.judgement) throw new Error("both are asked");
  return { floor: floor.agreement, code: { ...found.agreement, judgement: found.judgement } };
}

const all = Array.from({ length: seeds }, (_, index) => index + 1);
const median = (numbers: readonly number[]) => numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? 0;

describe("compare, on workers with a known noise", { timeout: 3_600_000 }, () => {
  it("finds a planted error of 7 % at 200 calls and not at 10, beside a prompt without noise", async () => {
    const many = await compareFirst("sure", 200, "planted");
    expect(many).toMatchObject({
      floor: { hits: 200, count: 200, upper: 1 },
      code: { hits: 186, judgement: { verdict: "worse" } },
    });
    const few = await compareFirst("sure", 10, "planted");
    expect(few.code).toMatchObject({ hits: 9, count: 10, judgement: { verdict: "untold" } });
  });

  it("has the noise of a prompt in its interval, and says how many calls tell 7 points", async () => {
    const seen = { covered: 0, toldBy400: 0, saidAt100: [] as number[] };
    for (seed of all) {
      const { floor, code } = await compareFirst("noisy", recorded, "careless");
      expect(code.hits).toBe(0.75 * recorded);
      if (floor.lower <= selfAgreement && selfAgreement <= floor.upper) seen.covered++;
      if (code.judgement.verdict === "worse") seen.toldBy400++;
      const { judgement } = (await compareFirst("noisy", 100, "careless")).code;
      if (judgement.verdict === "untold") expect(sayJudgement(judgement, 100, "it")).toMatch(/at 100 calls .* more would tell$/);
      seen.saidAt100.push(100 + judgement.more);
    }
    expect(seen.covered, JSON.stringify(seen)).toBeGreaterThanOrEqual(0.95 * seeds);
    if (seeds < 100) return;
    // 7 points are told by about 190 calls in half of all comparisons, and by twice as many in most.
    expect(median(seen.saidAt100), JSON.stringify(seen)).toBeGreaterThan(130);
    expect(median(seen.saidAt100)).toBeLessThan(300);
    expect(seen.toldBy400).toBeGreaterThan(0.7 * seeds);
  });

  it("refuses free text without a worker that compares it", async () => {
    const request = { ...chosen, step: "text", cases: casesOf("text"), again: true };
    await expect(compare(request)).rejects.toThrow("what `text` gives is free text");
  });
});
