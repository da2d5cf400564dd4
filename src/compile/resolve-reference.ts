import { relative } from "node:path";
import { diagnose } from "../diagnostics/diagnose.ts";
import { didYouMean } from "../diagnostics/did-you-mean.ts";
import type { Spanned } from "../diagnostics/source.ts";
import type { ToolsetSyntax } from "../language/worker-file.ts";
import { isTool, isToolset, type Toolset } from "../toolsets/toolset.ts";
import { toolsetOfTool } from "../toolsets/toolset-of-tool.ts";
import type { Compilation } from "./compilation.ts";
import { workerNames, workerPaths } from "./locate-program.ts";

export type ReferenceTarget =
  /** `calls`: the names that its code may call. */
  | { readonly kind: "toolset"; readonly toolset: Toolset; readonly calls: readonly string[] }
  | { readonly kind: "worker"; readonly path: string }
  /** An export of code that may not be imported yet: its name is there, what it is stays unknown. */
  | { readonly kind: "unverified"; readonly name: string };

interface Candidate {
  readonly description: string;
  readonly resolve: () => ReferenceTarget | undefined;
}

/** Finds what a key under `toolsets` means. Nothing shadows anything: several meanings are an error that lists them. */
export async function resolveReference(compilation: Compilation, syntax: ToolsetSyntax): Promise<ReferenceTarget | undefined> {
  const reference = syntax.use ?? syntax.reference;
  const candidates = await candidatesFor(compilation, reference);
  const [only, ...others] = candidates;
  if (only && others.length === 0) return only.resolve();
  const { diagnostics } = compilation;
  if (only) {
    const message = `\`${reference.value}\` could be ${candidates.map(({ description }) => description).join(" or ")}`;
    diagnostics.report(
      diagnose("ambiguous-toolset", { message, span: reference.span, notes: [{ message: "rename one of them" }] }),
    );
    return undefined;
  }
  const notes = didYouMean(reference.value, await knownNames(compilation));
  const known = [...compilation.builtIns.keys()].map((name) => `\`${name}\``).join(", ");
  const message = `there is no toolset, worker or tool \`${reference.value}\``;
  const help = `built in: ${known}; a worker is \`${reference.value}.worker\`, a tool an export of \`tools.ts\``;
  diagnostics.report(
    diagnose("unknown-toolset", { message, span: reference.span, notes: notes.length > 0 ? notes : [{ message: help }] }),
  );
  return undefined;
}

async function candidatesFor(compilation: Compilation, reference: Spanned<string>): Promise<Candidate[]> {
  const { host, root, builtIns } = compilation;
  const name = reference.value;
  const toolset = builtIns.get(name);
  const paths = await workerPaths(host, root, name);
  const code = await compilation.tools();
  return [
    ...(toolset
      ? [{ description: `the built-in toolset \`${name}\``, resolve: () => ({ kind: "toolset" as const, toolset, calls: [] }) }]
      : []),
    ...paths.map((path) => ({
      description: `the worker \`${relative(root, path)}\``,
      resolve: () => ({ kind: "worker" as const, path }),
    })),
    ...(code?.exports.has(name)
      ? [
          {
            description: `the export of \`${relative(root, code.path)}\``,
            resolve: () => resolveExport(compilation, reference, code.imported ? { value: code.exports.get(name) } : undefined),
          },
        ]
      : []),
  ];
}

function resolveExport(
  { diagnostics }: Compilation,
  reference: Spanned<string>,
  found: { readonly value: unknown } | undefined,
): ReferenceTarget | undefined {
  const name = reference.value;
  if (!found) return { kind: "unverified", name };
  if (isToolset(found.value)) return { kind: "toolset", toolset: found.value, calls: [] };
  if (isTool(found.value)) return { kind: "toolset", toolset: toolsetOfTool(name, found.value), calls: found.value.calls ?? [] };
  const notes = [{ message: `write \`export const ${name} = tool({ input: …, run: … })\`` }];
  diagnostics.report(
    diagnose("toolset-not-one", {
      message: `the export \`${name}\` is neither a tool nor a toolset`,
      span: reference.span,
      notes,
    }),
  );
  return undefined;
}

async function knownNames({ host, root, builtIns, tools }: Compilation): Promise<string[]> {
  const code = await tools();
  return [...builtIns.keys(), ...(await workerNames(host, root)), ...(code?.exports.keys() ?? [])];
}
