import type { Outline } from "../../protocol/outline.ts";
import { modelLabel } from "../text/model-label.ts";
import { wrapWords } from "../text/wrap-text.ts";
import { buildTrees } from "./build-tree.ts";
import { drawRows, drawTree, type Row } from "./layout.ts";
import { limitRows } from "./limit-rows.ts";
import type { ModelPrices } from "./model-prices.ts";
import { counted, list, show } from "./phrases.ts";
import { ceilingRows, commandRows, fileRows, inputRows, modelRows } from "./render-facts.ts";

export interface ExplanationStyle {
  readonly columns: number;
  /** Programs may run by the rules where they cannot be isolated. Default false. */
  readonly unisolated?: boolean;
  /** Prices of models by their ids, and the day of these prices. Absent: no prices are shown. */
  readonly prices?: { readonly of: ModelPrices; readonly date: string };
}

/**
 * Renders what a program is and could do, for a person: the tree of calls, files, models, limits, and the ceiling. Wrapped
 * at so many columns, in ASCII as far as its facts allow; all texts of the program are escaped.
 */
export function renderExplanation(outline: Outline, { columns, prices, unisolated = false }: ExplanationStyle): string {
  const otherwise = unisolated ? "else plain readers and what rules spell out: --unisolated" : "else each asks";
  const lines = [
    ...headOf(outline).flatMap((line) => wrapWords(line, columns)),
    ...section("What it takes and gives", inputRows(outline), columns),
    "Calls, what happens to them, and why",
    ...buildTrees(outline).flatMap((tree) => drawTree(tree, columns)),
    ...section("Files (protected names ask: .env*, .git, ...)", fileRows(outline), columns),
    ...section(`Programs of this machine (isolated if it can; ${otherwise})`, commandRows(outline), columns),
    ...section(`Models, which are sent what is read${pricesNote(prices)}`, modelRows(outline, prices?.of), columns),
    ...section("Limits", limitRows(outline, prices?.of), columns),
    ...renderCeiling(outline, columns),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function pricesNote(prices: ExplanationStyle["prices"]): string {
  return prices && prices.of.size > 0 ? ` (in / out per 1M tokens, ${prices.date})` : "";
}

/** Renders all that the entry could do, for `explain` and for a dry run. */
export function renderCeiling(outline: Outline, columns: number): string[] {
  const { entry, ceilingDigest } = outline;
  const title = `Ceiling of ${show(entry.kind === "code" ? entry.name : entry.id)}, with all that it calls (${ceilingDigest.slice(0, 12)})`;
  return section(title, ceilingRows(outline), columns);
}

function section(title: string, rows: readonly Row[], columns: number): string[] {
  return rows.length > 0 ? [...wrapWords(title, columns), ...drawRows(rows, columns)] : [];
}

function headOf({ name, entry, workers, ceiling, trusted, approval }: Outline): string[] {
  const start =
    entry.kind === "code" ? `${entry.file}:${entry.name}` : (workers.find(({ id }) => id === entry.id)?.file ?? entry.id);
  const { code, unverified } = ceiling;
  const scripts = scriptsOfUser(workers).filter((path) => !code.includes(path));
  const own = scripts.length > 0 ? `the script ${list(scripts)}, which is code that you named` : undefined;
  const ofProgram = code.length > 0 ? `code in ${list(code)}` : own ? undefined : "no code";
  const parts = [counted(workers.length, "worker"), ofProgram, own].filter((part) => part !== undefined);
  const head = `${show(name)}: starts at ${show(start)}, ${parts.join(", ")}`;
  const isUnseen = !trusted && (code.length > 0 || unverified.length > 0);
  return [
    head,
    ...(isUnseen ? ["NOT VERIFIED: its code was not run to look at it, for its folder is not trusted; --trust does."] : []),
    ...(approval === "reject_all" ? ["Its manifest says `reject_all`: everything that would ask is denied."] : []),
  ];
}

/** Scripts in TypeScript or JavaScript that play a model because the user said so: they run, and need no trust. */
function scriptsOfUser(workers: Outline["workers"]): string[] {
  const models = workers.flatMap(({ model }) => (model?.namedBy === "user" ? [modelLabel(model.id)] : []));
  return [...new Set(models.flatMap((id) => /^scripted:(.+\.[cm]?[jt]sx?)$/i.exec(id)?.[1] ?? []))];
}
