import { fileUseOf, takesAttachments } from "../../protocol/file-use.ts";
import { isRecord } from "../../protocol/json.ts";
import type { Outline, OutlinedScope, OutlinedWorker } from "../../protocol/outline.ts";
import { powerOfCode, programSuffix } from "../../protocol/program-file.ts";
import type { JsonSchema } from "../../protocol/tool.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { modelLabel } from "../text/model-label.ts";
import type { Row } from "./layout.ts";
import { dollars, type ModelPrices } from "./model-prices.ts";
import { bytes, counted, list, show } from "./phrases.ts";
import { entryOf, unusedRoots } from "./unused-roots.ts";

/** Returns rows for the fields of the entry's input and output. Empty for a prompt that is answered with a text. */
export function inputRows(outline: Outline): Row[] {
  const worker = entryOf(outline);
  if (!worker) return [];
  const { input, output } = worker;
  const names = isRecord(input["properties"]) ? Object.keys(input["properties"]) : [];
  if (!output && names.every((name) => name === "input" || name === "attachments")) return [];
  return [
    { label: "input", texts: describeFields(input) },
    { label: "output", texts: output ? describeFields(output) : ["text"] },
  ];
}

function describeFields({ type, properties, required }: JsonSchema): string[] {
  if (!isRecord(properties)) return [show(typeof type === "string" ? type : "any JSON")];
  const needed = Array.isArray(required) ? required : [];
  return Object.entries(properties).map(([name, field]) => {
    const { type: kind, enum: choices, description } = isRecord(field) ? field : {};
    const what = Array.isArray(choices)
      ? choices.map(String).join(" or ")
      : Array.isArray(kind)
        ? kind.join(" or ")
        : (kind ?? "any");
    const about = typeof description === "string" ? `, ${description}` : "";
    return show(clipText(`${name}${needed.includes(name) ? "" : "?"}: ${String(what)}${about}`, 160));
  });
}

/** Returns rows for the files that each worker may read and write, and for attachments. */
export function fileRows(outline: Outline): Row[] {
  const workers = outline.workers.map((worker) => ({
    label: show(worker.name),
    texts: [...describeScopes(worker, outline), ...describeCode(worker), ...describeAttachments(worker)],
  }));
  return [...entryRows(outline), ...workers];
}

/** Returns rows for the scopes of an entry that is code, which bind its tools and not the code. */
function entryRows({ entry }: Outline): Row[] {
  if (entry.kind === "worker") return [];
  const scopes = entry.scopes.map((scope) => {
    const writes = scope.mode === "rw";
    return `${writes ? "reads, writes" : "reads"} ${describeScope(scope, writes)}`;
  });
  return [{ label: show(entry.name), texts: [...scopes, `whatever you may: it is code of ${show(entry.file)}`] }];
}

function describeScopes(worker: OutlinedWorker, outline: Outline): string[] {
  const isEntry = entryOf(outline)?.id === worker.id;
  const use = fileUseOf(worker, new Map(outline.workers.map((one) => [one.id, one])));
  if (worker.scopes.length === 0)
    return [worker.commands ? "no files but those of its commands: an empty folder for each call" : "no files: it has no scope"];
  if (use === "none" && !(isEntry && takesAttachments(worker)))
    return [worker.toolsets.length === 0 ? "no files: it has no tools" : "no files: none of its tools takes one"];
  return worker.scopes.map((scope) => {
    const writes = scope.mode === "rw" && use === "all";
    const does = writes ? "reads, writes" : use === "all" ? "reads" : "hands on files of";
    return `${use === "none" ? "is given files of" : does} ${describeScope(scope, writes)}`;
  });
}

function describeScope(scope: OutlinedScope, writes: boolean): string {
  const { name, root, outside, isChosen, suffixes, maxFileBytes, writeApproval, readApproval } = scope;
  const facts = [
    ...(outside ? ["OUTSIDE the program"] : []),
    ...(name === root ? [] : [`scope ${show(name)}${isChosen ? ", by --scope" : ""}`]),
    ...(suffixes ? [list(suffixes)] : []),
    ...(maxFileBytes === undefined ? [] : [`to ${bytes(maxFileBytes)}`]),
    ...(readApproval ? ["reading asks"] : []),
    ...(writes && !writeApproval ? ["writing does not ask"] : []),
  ];
  return facts.length > 0 ? `${place(root)} (${facts.join("; ")})` : place(root);
}

function place(root: string): string {
  return root === "." ? "the program's folder" : show(root);
}

/** Returns a line for the files of each power. */
function describeRunCode(code: readonly string[]): string[] {
  const powers = [...new Set(code.map(powerOfCode))].sort().reverse();
  return powers.map((power) => `${list(code.filter((file) => powerOfCode(file) === power))}: code, ${power}`);
}

/** Returns a row for code. No scope binds code, which an approver of its calls must know. */
function describeCode({ toolsets }: OutlinedWorker): string[] {
  const code = toolsets.flatMap(({ kind, file, reference }) => {
    if (kind === "code") return file?.endsWith(programSuffix) ? [] : [file ?? reference];
    return kind === "unverified" ? [reference] : [];
  });
  return code.length > 0 ? [`whatever you may, through code: ${list([...new Set(code)])}`] : [];
}

function describeAttachments(worker: OutlinedWorker): string[] {
  if (!takesAttachments(worker)) return [];
  const { maxAttachments, maxTotalBytes, allowedSuffixes, deniedSuffixes, mediaTypes } = worker.attachments;
  const kinds = [...allowedSuffixes, ...mediaTypes, ...deniedSuffixes.map((suffix) => `not ${suffix}`)];
  const of = kinds.length > 0 ? ` of ${list(kinds)}` : "";
  return [`is sent up to ${counted(maxAttachments, "attachment")}${of}, to ${bytes(maxTotalBytes)}`];
}

/** Returns rows for the workers that start programs of the machine, and what these may do. */
export function commandRows({ workers }: Outline): Row[] {
  return workers.flatMap(({ name, commands }) => {
    if (!commands) return [];
    const network = commands.networkEnabled ? "WITH the network" : "without network";
    const required = commands.isolationRequired ? ["no run begins where they cannot be isolated (`required`)"] : [];
    return [{ label: show(name), texts: [network, ...required] }];
  });
}

/** Returns rows for the models: the workers that run on each, its source, and its price. */
export function modelRows({ workers }: Outline, prices: ModelPrices = new Map()): Row[] {
  const users = new Map<string, string[]>();
  for (const { name, model, compatibleModels } of workers) {
    const source = model ? ` (by ${show(model.source)})` : " (set `model`, --model or LLM_DO_MODEL)";
    const address = model?.address === undefined ? "" : ` at ${show(model.address)}`;
    const price = model && prices.get(model.id);
    const costs = price ? `; ${dollars(price.input)} / ${dollars(price.output)}` : "";
    const key = `${model ? show(modelLabel(model.id)) + address : "none"}\n${source}${costs}`;
    const only = compatibleModels ? `, which runs on ${list(compatibleModels)}` : "";
    users.set(key, [...(users.get(key) ?? []), `${show(name)}${only}`]);
  }
  return [...users].map(([key, names]) => {
    const [label = "", source = ""] = key.split("\n");
    return { label, texts: [`${names.join("; ")}${source}`] };
  });
}

/** Returns rows for all that the entry could do, itself or through what it calls. */
export function ceilingRows(outline: Outline): Row[] {
  const { reads, writes, models, tools, code, packages = [], variables = [], network = [], unverified } = outline.ceiling;
  const roots = (way: "reads" | "writes") => describeRoots(outline, way);
  const references = [...new Set(tools.map((tool) => tool.slice(0, tool.indexOf("/"))))];
  return [
    { label: "reads", texts: [reads.length > 0 ? roots("reads") : "nothing"] },
    { label: "writes", texts: [writes.length > 0 ? roots("writes") : "nothing"] },
    { label: "sends to", texts: [models.length > 0 ? list(models.map(modelLabel)) : "no model yet"] },
    { label: "calls", texts: [tools.length > 0 ? `${counted(tools.length, "tool")} of ${list(references)}` : "no tool"] },
    ...(code.length > 0 ? [{ label: "runs", texts: describeRunCode(code) }] : []),
    ...(packages.length > 0 ? [{ label: "loads", texts: packages.map(show) }] : []),
    ...(variables.length > 0 ? [{ label: "takes", texts: [`the variables ${list(variables)} of the environment`] }] : []),
    ...(network.length > 0 ? [{ label: "network", texts: [`by programs that ${list(network)} may start`] }] : []),
    ...(unverified.length > 0
      ? [{ label: "unverified", texts: [`${list(unverified)}: could be anything that code can do`] }]
      : []),
  ];
}

function describeRoots(outline: Outline, way: "reads" | "writes"): string {
  const unused = unusedRoots(outline, way);
  const outside = new Set(outline.workers.flatMap(({ scopes }) => scopes.filter((one) => one.outside).map(({ root }) => root)));
  return outline.ceiling[way]
    .map((root) => `${place(root)}${outside.has(root) ? " (OUTSIDE)" : ""}${unused.has(root) ? " (no tool uses it)" : ""}`)
    .join(", ");
}
