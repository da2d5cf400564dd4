import type { TestOptions } from "../cases/run-tests.ts";
import type { CaseReport, TestReport } from "../cases/test-report.ts";
import { createNodeHost } from "../host/node-host.ts";

export type { TestOptions as PromptTestOptions } from "../cases/run-tests.ts";
export type { CaseReport, CountedFailure, TestReport } from "../cases/test-report.ts";

/** The `test` of vitest, of `node:test`, of jest. */
export type RegisterTest = (name: string, run: () => Promise<void>) => unknown;

/**
 * Runs the cases of `*.test.yaml` as `llm-do test` does. `target`: a folder with all below it, a test file, or a worker file; relative to
 * the working directory. Rejects with what `llm-do test` refuses: a `CompileError`, an `UntrustedProgram`, or no case at all.
 */
export async function testProgram(target: string, options: TestOptions = {}): Promise<TestReport> {
  const { runTests } = await import("../cases/run-tests.ts");
  return runTests({ ...options, target, host: createNodeHost() });
}

/** Registers each case as a test of a test runner. Rejects as `testProgram` does. */
export async function promptTests(test: RegisterTest, target: string, options: TestOptions = {}): Promise<void> {
  const { openTests } = await import("../cases/run-tests.ts");
  for (const { file, name, run } of await openTests({ ...options, target, host: createNodeHost() }))
    test(`${file}: ${name}`, async () => {
      const report = await run();
      if (report.outcome === "failed") throw new Error(describeFailures(report));
    });
}

function describeFailures({ failures = [], passed = 0, runs = 0 }: CaseReport): string {
  const lines = failures.map(({ expectation, message }) => `${expectation}: ${message}`);
  return [...(runs > 1 ? [`passed ${passed} of ${runs} runs`] : []), ...lines].join("\n");
}
