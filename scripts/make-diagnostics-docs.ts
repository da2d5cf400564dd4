// Writes docs/diagnostics.md from the catalogue of diagnostics and the samples of the tests. `--check` writes nothing, and
// fails if the page is not what would be written.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { catalogue } from "../src/diagnostics/catalogue.ts";
import type { CatalogueEntry } from "../src/diagnostics/catalogue-entry.ts";
import { renderDiagnostics } from "../src/diagnostics/render-diagnostic.ts";
import { findSamples, type Request, type Sample, usualModel } from "./diagnostic-samples.ts";

const root = join(import.meta.dirname, "..");

const head = `# Diagnostics

Everything that \`llm-do check\` can find, by its code. An error keeps a program from running; a warning or a hint does not.
All mistakes of a program are told at once, each with its place and, where there is one, a way to mend it.

The codes do not change, so they are what tests and filters can rely on: \`llm-do check --format json\` prints them for
programs, \`--format sarif\` for code scanning, \`--format github\` as annotations of GitHub Actions.

This page is made by \`scripts/make-diagnostics-docs.ts\`. Each example is a sample of the tests, with what is said of it.

\`\`\`sh
llm-do check .
llm-do docs unknown-key
\`\`\`
`;

/** The whole page. */
export async function renderDiagnosticsPage(): Promise<string> {
  const samples = await findSamples(join(root, "tests"));
  const entries = Object.entries<CatalogueEntry>(catalogue).sort(([a], [b]) => (a < b ? -1 : 1));
  const rows = entries.map(([code, { severity, title }]) => `| [\`${code}\`](#${code}) | ${severity} | ${title} |\n`);
  const sections = entries.map(([code, entry]) => renderSection(code, entry, samples.get(code)));
  return `${head}\n| code | severity | what is wrong |\n| --- | --- | --- |\n${rows.join("")}\n${sections.join("\n")}`;
}

function renderSection(code: string, { severity, title, explanation }: CatalogueEntry, sample: Sample | undefined): string {
  const text = `## ${code}\n\n**${severity}:** ${title}.\n\n${explanation}\n`;
  return sample ? `${text}\n${renderSample(code, sample)}` : text;
}

function renderSample(code: string, { files, request, diagnostics }: Sample): string {
  const said = renderBlock("text", `${renderDiagnostics(diagnostics)}\n`);
  const [file] = files;
  if (!request && file) {
    const isError = diagnostics.some(({ severity }) => severity === "error");
    return `${renderBlock(isError ? `worker error=${code}` : "worker", file.text)}\n${said}`;
  }
  const shown = files.map(({ name, text }) =>
    text.trim() === "" ? `\`${name}\` is empty.\n` : `\`${name}\`:\n\n${renderBlock("text", text)}`,
  );
  return [...shown, `${renderRequest(request ?? {})}\n`, said].join("\n");
}

function renderBlock(info: string, text: string): string {
  return `\`\`\`${info}\n${text}${text.endsWith("\n") ? "" : "\n"}\`\`\`\n`;
}

/** With what the sample is checked, in the words of the command line. */
function renderRequest(request: Request): string {
  const {
    target,
    files = target === undefined ? [] : [target],
    entry,
    model,
    set = [],
    modelFor = [],
    trust,
    env = {},
  } = request;
  const words = [
    ...Object.entries(env).map(([name, value]) => `${name}=${JSON.stringify(value)}`),
    ...files,
    ...(entry === undefined ? [] : [`--entry ${entry}`]),
    ...(model === undefined || model === usualModel ? [] : [`--model ${model}`]),
    ...set.map((override) => `--set '${override}'`),
    ...modelFor.map((override) => `--model-for '${override}'`),
    ...(trust ? ["--trust"] : []),
  ];
  return words.length === 0 ? "What is said of it:" : `What is said of it, with \`${words.join(" ")}\`:`;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const file = join(root, "docs/diagnostics.md");
  const page = await renderDiagnosticsPage();
  if (!process.argv.includes("--check")) writeFileSync(file, page);
  else if (readFileSync(file, "utf8") !== page) {
    console.log("docs/diagnostics.md is out of date; run node scripts/make-diagnostics-docs.ts");
    process.exitCode = 1;
  }
}
