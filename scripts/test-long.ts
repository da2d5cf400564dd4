// The long property, fuzz and kill tests, with the counts that docs/maintainers/testing.md records. Each is the ordinary test with more
// runs; `npm test` runs a seeded slice of the same.
import { spawnSync } from "node:child_process";

interface Campaign {
  readonly name: string;
  readonly files: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

const campaigns: readonly Campaign[] = [
  { name: "mutated worker files and templates", files: ["tests/language"], environment: { LLM_DO_FUZZ_RUNS: "200000" } },
  {
    name: "random call trees through the gate",
    files: ["tests/scenarios/gate.property.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "20000" },
  },
  {
    name: "metering of random call trees",
    files: ["tests/scenarios/metering.property.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "300" },
  },
  {
    name: "creators and what they create",
    files: ["tests/compile/attenuation.property.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "10000" },
  },
  {
    name: "killed and resumed call trees",
    files: ["tests/scenarios/resume.property.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "5000" },
  },
  {
    name: "disturbed and resumed call trees",
    files: ["tests/scenarios/resume-faults.property.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "300" },
  },
  {
    name: "generated and hostile programs of models",
    files: ["tests/scenarios/programs.property.test.ts", "tests/host/program-engine.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "1000", LLM_DO_PROGRAMS: "all" },
  },
  {
    name: "answers with other members",
    files: ["tests/models/tolerant-reading.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "1" },
  },
  {
    name: "damaged journals",
    files: ["tests/scenarios/damaged-journal.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "20000" },
  },
  { name: "kills during writes", files: ["tests/host/attacks.test.ts"], environment: { LLM_DO_KILL_RUNS: "1000" } },
  { name: "kills of runs", files: ["tests/cli/kill.test.ts"], environment: { LLM_DO_KILL_RUNS: "300" } },
  { name: "kills of starting commands", files: ["tests/host/commands-wall.test.ts"], environment: { LLM_DO_KILL_RUNS: "500" } },
  {
    name: "random texts of approvals",
    files: ["tests/security/approval-text.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "100000" },
  },
  {
    name: "random commands",
    files: ["tests/shell/fuzz.test.ts", "tests/shell/quoting.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "20000" },
  },
  {
    name: "effects of commands",
    files: ["tests/shell/effects"],
    environment: { LLM_DO_LINES: "all", LLM_DO_FUZZ_RUNS: "3000" },
  },
  {
    name: "stores of records",
    files: ["tests/conformance/run-store.test.ts", "tests/postgres/postgres-store.test.ts"],
    environment: { LLM_DO_STORE_SIZE: "whole" },
  },
  {
    name: "hostile places of a record and of a program",
    files: ["tests/security/record-places.test.ts", "tests/security/special-files.test.ts", "tests/security/shell-rows.test.ts"],
    environment: { LLM_DO_COMMANDS: "all" },
  },
  {
    name: "hostile fields of a record",
    files: ["tests/security/hostile-commands.test.ts"],
    environment: { LLM_DO_FUZZ_RUNS: "20000" },
  },
  { name: "known noise of prompts", files: ["tests/boundary/known-noise.test.ts"], environment: { LLM_DO_SEEDS: "100" } },
  { name: "rows of a map", files: ["tests/map"], environment: { LLM_DO_MAP_ROWS: "10000", LLM_DO_KILL_RUNS: "60" } },
  {
    name: "disturbed executors",
    files: ["tests/postgres/executors-soak.test.ts"],
    environment: { LLM_DO_SOAK_RUNS: "10000", LLM_DO_SOAK_EXECUTORS: "8" },
  },
  {
    name: "soak and load",
    files: ["tests/soak"],
    environment: { LLM_DO_SOAK_SECONDS: "600", LLM_DO_SOAK_RUNS: "20000" },
  },
];

const wanted = process.argv.slice(2);
let failed = 0;
for (const { name, files, environment } of campaigns) {
  if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
  const started = Date.now();
  const args = ["vitest", "run", "--testTimeout=3600000", ...files];
  const { status } = spawnSync("npx", args, { stdio: "inherit", env: { ...process.env, ...environment } });
  if (status !== 0) failed++;
  process.stdout.write(`${name}: ${status === 0 ? "passed" : "FAILED"} in ${Math.round((Date.now() - started) / 1000)} s\n`);
}
process.exitCode = failed === 0 ? 0 : 1;
