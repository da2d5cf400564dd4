// The tables of a run of the bench, as Markdown.
import { type Arm, type Case, modelOf } from "./arm.ts";
import { exponentOf, quantile, ratioOf, type Times } from "./measure.ts";

export interface Measured {
  readonly one: Case;
  readonly rows: readonly Times[];
}

export interface Memory {
  readonly one: Case;
  /** The largest that each library's process came to, in MB. */
  readonly megabytes: ReadonlyMap<Arm, number>;
}

/** Tables of the benches without peers, by their names. */
export type Parts = readonly (readonly [name: string, table: string])[];

const titles: Readonly<Record<Case["kind"], (count: string) => string>> = {
  turns: (count) => `${count} turns with a call each`,
  effects: (count) => `${count} turns, a tool with effects`,
  calls: (count) => `${count} calls in one answer`,
  children: (count) => `${count} children at once`,
  text: (count) => `${count} tokens, streamed`,
  pdf: (count) => `a PDF of 2 MB, ${count} turns`,
  start: (count) => (count === "0" ? "a prompt alone" : "a tool of the program's own"),
};

export function titleOf({ kind, count }: Case): string {
  return titles[kind](count.toLocaleString("en-US"));
}

const captions: Readonly<Record<string, string>> = {
  compile: "Compiling a program",
  files: "Files",
  commands: "Shell commands",
  journal: "The journal of 20 turns",
};

/** The tables of the page. */
export function summaryOf(head: string, measured: readonly Measured[], memory: readonly Memory[], parts: Parts): string {
  const loops = measured.filter(({ one }) => one.kind !== "start");
  const starts = measured.filter(({ one }) => one.kind === "start");
  const sections = [
    head,
    section("Beside other libraries", besideOf(loops)),
    section("Growth", growthOf(loops)),
    section("Start", startOf(starts)),
    section("Memory", memoryOf(memory)),
    ...parts.map(([name, table]) => section(captions[name] ?? name, table)),
  ];
  return `${sections.filter((text) => text !== "").join("\n\n")}\n`;
}

/** The tables of the page, and all figures of each case. */
export function reportOf(head: string, measured: readonly Measured[], memory: readonly Memory[], parts: Parts): string {
  const all = measured.map(({ one, rows }) => section(`${modelOf(one)}, ${rows[0]?.walls.length} rounds`, detailOf(rows)));
  return `${summaryOf(head, measured, memory, parts)}\n${all.join("\n\n")}\n`;
}

function section(title: string, text: string): string {
  return text === "" ? "" : `### ${title}\n\n${text.trimEnd()}`;
}

function besideOf(measured: readonly Measured[]): string {
  const arms = measured[0]?.rows.map(({ arm }) => arm) ?? [];
  const rows = measured.map(({ one, rows: times }) => {
    const [floor] = times;
    const ratios = times.map((row) => (row.failure === undefined ? ratioOf(row.walls, floor?.walls) : Number.NaN));
    const least = Math.min(...ratios.filter((ratio, index) => ratio > 0 && !times[index]?.arm.floor));
    const cells = ratios.map((ratio) => (ratio === least ? `**${show(ratio)}**` : show(ratio)));
    return [titleOf(one), `${quantile(floor?.walls ?? [], 0.5).toFixed(1)} ms`, ...cells.slice(1)];
  });
  if (rows.length === 0) return "";
  const missing = measured.flatMap(({ one, rows: times }) =>
    times.flatMap(({ arm, failure }) => (failure === undefined ? [] : [`- ${arm.name}, ${titleOf(one)}: ${failure}.`])),
  );
  return [table(["case", ...arms.map(({ name }) => name)], rows), missing.join("\n")].join("\n\n").trim();
}

function growthOf(measured: readonly Measured[]): string {
  const arms = measured[0]?.rows.map(({ arm }) => arm) ?? [];
  const kinds = (["turns", "children"] as const)
    .map((kind) => measured.filter(({ one }) => one.kind === kind))
    .filter((cases) => cases.length > 1);
  const rows = arms.map((arm) => [
    arm.name,
    ...kinds.map((cases) => {
      const points = cases.map(({ one, rows: times }) => {
        const own = times.find((row) => row.arm === arm);
        return { count: one.count, time: own?.failure === undefined ? Math.min(...(own?.walls ?? [])) : Number.NaN };
      });
      return show(exponentOf(points));
    }),
  ]);
  const heads = kinds.map(
    (cases) => `${cases.map(({ one }) => one.count.toLocaleString("en-US")).join(", ")} ${cases[0]?.one.kind}`,
  );
  return kinds.length === 0 ? "" : table(["library", ...heads], rows);
}

function startOf(measured: readonly Measured[]): string {
  const arms = measured[0]?.rows.map(({ arm }) => arm) ?? [];
  const rows = arms.map((arm) => [
    arm.name,
    ...measured.map(({ rows: times }) => {
      const own = times.find((row) => row.arm === arm);
      if (own?.failure !== undefined) return own.failure;
      return `${Math.min(...(own?.walls ?? [])).toFixed(0)} (${quantile(own?.walls ?? [], 0.5).toFixed(0)})`;
    }),
  ]);
  return rows.length === 0 ? "" : table(["library", ...measured.map(({ one }) => titleOf(one))], rows);
}

function memoryOf(memory: readonly Memory[]): string {
  const arms = new Set(memory.flatMap(({ megabytes }) => [...megabytes.keys()]));
  const rows = [...arms].map((arm) => [arm.name, ...memory.map(({ megabytes }) => show(megabytes.get(arm) ?? Number.NaN, 0))]);
  return rows.length === 0 ? "" : table(["library", ...memory.map(({ one }) => titleOf(one))], rows);
}

function detailOf(rows: readonly Times[]): string {
  const [floor] = rows;
  const aiSdk = rows.find(({ arm }) => arm.name === "AI SDK");
  const cells = rows.map(({ arm, walls, cpu, failure }) => [
    arm.name,
    ...(failure === undefined
      ? [
          show(quantile(walls, 0.5), 1),
          show(Math.min(...walls), 1),
          show(ratioOf(walls, floor?.walls)),
          show(ratioOf(walls, aiSdk?.walls)),
          show(ratioOf(cpu, floor?.cpu)),
          show(ratioOf(cpu, aiSdk?.cpu)),
        ]
      : [failure, "", "", "", "", ""]),
  ]);
  return table(["library", "ms, median", "ms, least", "× fetch", "× AI SDK", "CPU × fetch", "CPU × AI SDK"], cells);
}

function show(value: number, digits = 2): string {
  return Number.isNaN(value) ? "–" : value.toFixed(digits);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map((_, index) => (index === 0 ? "---" : "---:")), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
