import { type Compiled, diagnoseMentions } from "../compile/compile.ts";
import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { compile } from "../front/llm-do.ts";
import type { Host } from "../host/host.ts";
import type { TestCaseSyntax } from "../language/shapes/test-shape.ts";
import type { Provider } from "../models/provider.ts";
import type { Program } from "../program/program.ts";
import { mentionsOf } from "./check-expectations.ts";
import { diagnosePaths, type FoundSuites, findTestSuites, NoTests, type TestSuite } from "./test-suite.ts";

/** Compiles without trust, with the variables of the cases. */
export function compileTested({ target, cases }: TestSuite, host: Host, providers: readonly Provider[] = []): Promise<Compiled> {
  const variables = Object.assign({}, ...cases.map(({ env = {} }) => env));
  const environment = { ...host.environment, ...variables };
  return compile({ target, host: { ...host, environment }, providers });
}

/**
 * Reports the mistakes of a target's test files; runs no case and no code. Empty if it has no tests. `known` is the program of the
 * target, compiled with as much trust as it has: names of tools and workers are compared with it, or with what needs no trust.
 */
export async function checkTests(host: Host, target: string, known: Compiled): Promise<readonly Diagnostic[]> {
  const { suites, diagnostics } = await findTestSuites(host, target).catch((thrown: unknown): FoundSuites => {
    if (thrown instanceof NoTests) return { suites: [], diagnostics: [] };
    throw thrown;
  });
  const found = [...diagnostics];
  for (const suite of suites) {
    const { program, outline } = suite.target === known.outline?.root ? known : await compileTested(suite, host);
    if (outline) found.push(...(await diagnosePaths(host, suite, outline)));
    if (program) found.push(...describeMentions(program, suite));
  }
  return found;
}

/** The cases that have one fail, so each is an error here. */
function describeMentions(program: Program, { cases }: TestSuite): readonly Diagnostic[] {
  const mentions = cases.filter(isOfProgram).flatMap(mentionsOf);
  return diagnoseMentions(program, mentions).map((one) => ({ ...one, severity: "error" }));
}

/** False for a case that changes what the program is made of. */
function isOfProgram({ entry, set, files }: TestCaseSyntax): boolean {
  return entry === undefined && set === undefined && files === undefined;
}
