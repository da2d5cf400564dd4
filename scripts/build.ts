// Builds dist/: each public entry, the command line and each thread as one file, what several of them or a later moment need
// in dist/chunks/, and a declaration file for each module. One file in place of a hundred saves a third of the start-up; packages stay outside, and
// so does what is imported on need (`import()`), which stays a chunk of its own.
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { rolldown } from "rolldown";

interface Manifest {
  readonly exports: Readonly<Record<string, { readonly default: string } | string>>;
}

const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as Manifest;
const built = Object.values(exports).flatMap((entry) => (typeof entry === "string" ? [] : [entry.default]));
/** Started by their path; or, of the last four, opened by it where a fault is reproduced with the built package. */
const inner = [
  "cli/main",
  "cli/watchdog-thread",
  "host/line-search-thread",
  "cli/open-trust-store",
  "host/node-host",
  "llm-do",
  "ui/render-request",
];
const entries = [...built.map((path) => path.replace(/^\.\/dist\/|\.js$/g, "")), ...inner];

rmSync("dist", { recursive: true, force: true });
const bundle = await rolldown({
  input: Object.fromEntries(entries.map((entry) => [entry, `src/${entry}.ts`])),
  platform: "node",
  // Packages; not the helpers of lowered syntax, which are bundled.
  external: /^(?!@oxc-project\/runtime)[^./\0]/,
  // Lowers syntax that the oldest Node does not have, such as `await using`.
  transform: { target: "es2024" },
});
await bundle.write({
  dir: "dist",
  sourcemap: true,
  entryFileNames: "[name].js",
  // All in one folder below dist/: src/host/module-hooks.ts finds dist/ from its own place.
  chunkFileNames: "chunks/[name]-[hash].js",
});
await bundle.close();
process.exitCode = spawnSync("tsc", ["-p", "tsconfig.build.json"], { stdio: "inherit" }).status ?? 1;
