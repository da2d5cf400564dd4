import { dirname, join, relative } from "node:path";
import { printFrontmatter } from "../../language/print-worker-file.ts";
import type { WorkerFile } from "../../language/worker-file.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { canonicalJson } from "../../util/json/canonical-json.ts";
import type { Compilation } from "../compilation.ts";
import { isFlag } from "../flag.ts";
import { rootPath } from "../link/link-scopes.ts";
import { firstSentence } from "../link/link-worker.ts";
import { approvalsOf, type Creator, configOf, type Powers, withApprovals } from "./powers.ts";

export interface Printing {
  readonly compilation: Compilation;
  readonly creator: Creator;
  /** Those of the creator. */
  readonly own: Powers;
  readonly powers: Powers;
  /** Absolute path of the file that is written. */
  readonly path: string;
  /** The parsed wish, with its texts and schemas. */
  readonly wish: WorkerFile;
  readonly instructions: string;
}

/**
 * Writes the file of a created worker. Paths from its creator's file are written so that they mean the same from the folder of the
 * new one.
 */
export function printDraft(printing: Printing): string {
  const { creator, powers, wish, instructions } = printing;
  const { input, output, instructions: body } = wish;
  const description = wish.description ?? { value: firstSentence(instructions), span: body.span };
  const { auth } = creator.resolved.file;
  // A login that the user allows by a flag is allowed for one run.
  const keepsAuth = auth && (auth.value === "off" || !isFlag(auth.span));
  const toolsets = Object.entries(powers.toolsets ?? {}).map((entry) => [entry[0], printToolset(printing, entry)]);
  const entries = Object.entries({
    auth: keepsAuth ? auth.value : undefined,
    model: powers.model,
    model_settings: powers.model_settings,
    attachment_policy: powers.attachment_policy?.["max_attachments"] === 0 ? undefined : powers.attachment_policy,
    sandbox: printSandbox(printing),
    toolsets: Object.fromEntries(toolsets),
    server_side_tools: powers.server_side_tools,
    limits: powers.limits,
  });
  const isSaid = ([key, value = {}]: (typeof entries)[number]) => key === "sandbox" || Object.keys(value).length > 0;
  const data = Object.fromEntries(entries.filter(isSaid)) as JsonObject;
  return printFrontmatter({ description, ...(input ? { input } : {}), ...(output ? { output } : {}) }, data, instructions);
}

function printSandbox({ compilation, creator, path, powers }: Printing): JsonObject {
  const { paths = {}, network_enabled: network, required } = powers.sandbox ?? {};
  const { file } = creator.resolved;
  const written = Object.entries(paths).map(([name, scope]) => {
    const root = declaredRoot(compilation, file, name) ?? compilation.root;
    return [name, { ...scope, root: relative(dirname(path), root).replaceAll("\\", "/") || "." }];
  });
  return {
    ...(Object.hasOwn(paths, ".") ? {} : { paths: Object.fromEntries(written) }),
    ...(network ? { network_enabled: true } : {}),
    ...(required ? { required: true } : {}),
  };
}

/** The folder that a worker's file, or the manifest, declares for a scope: `--scope` is of one run. */
function declaredRoot(compilation: Compilation, file: WorkerFile, name: string): string | undefined {
  const scopes = (file.sandbox ?? compilation.manifest?.sandbox)?.value.paths?.value ?? [];
  const root = scopes.find((scope) => scope.name.value === name)?.root;
  return root && rootPath(compilation, root);
}

/** A configuration that is the creator's is written as there: names of the manifest stay names. */
function printToolset(
  { creator, compilation, own, path }: Printing,
  [reference, entry]: readonly [string, JsonObject],
): JsonObject {
  const isNamed = (one: { readonly reference: { readonly value: string } }) => one.reference.value === reference;
  const syntax = creator.resolved.references.map((one) => one.syntax).find(isNamed);
  if (!syntax) return {};
  const written = creator.resolved.file.toolsets?.value.find(isNamed);
  const isOwn = canonicalJson(configOf(entry)) === canonicalJson(configOf(own.toolsets?.[reference] ?? {}));
  const target = (syntax.use ?? syntax.reference).value;
  const isPath = /^\.{1,2}\//.test(target);
  const folder = compilation.files.folderOf((syntax.use ?? syntax.reference).span);
  const moved = relative(dirname(path), join(folder, target)).replaceAll("\\", "/");
  const use = isPath ? moved : syntax.use?.value;
  const config = {
    ...(isOwn && written ? written.config.value : configOf(entry)),
    ...(use === undefined ? {} : { _use: use }),
    ...(written?.prefix ? { _prefix: written.prefix.value } : {}),
  };
  return withApprovals(config, approvalsOf(entry));
}
