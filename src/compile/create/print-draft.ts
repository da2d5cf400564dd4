import { dirname, join, relative } from "node:path";
import { printFrontmatter } from "../../language/print-worker-file.ts";
import type { WorkerFile } from "../../language/worker-file.ts";
import { defaultAttachmentPolicy } from "../../program/program.ts";
import type { AttachmentPolicy } from "../../protocol/attachment-policy.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { OutlinedScope } from "../../protocol/outline.ts";
import { canonicalJson } from "../../util/canonical-json.ts";
import type { Compilation } from "../compilation.ts";
import { isFlag } from "../flag.ts";
import { firstSentence } from "../link-worker.ts";
import type { ResolvedReference } from "../resolve-reference.ts";
import type { Capability, ToolsetCapability } from "./capability.ts";
import { type Creator, declaredRoot } from "./capability-of.ts";

export interface Printing {
  readonly compilation: Compilation;
  readonly creator: Creator;
  /** Those of the creator. */
  readonly own: Capability;
  readonly capability: Capability;
  /** Absolute path of the file that is written. */
  readonly path: string;
  /** It names a model of its own. */
  readonly hasModel: boolean;
  /** The parsed wish, with its texts and schemas. */
  readonly wish: WorkerFile;
  readonly instructions: string;
}

/** The whole file of a created worker. It says all that the worker may do, and its paths lead where those of its creator lead. */
export function printDraft(printing: Printing): string {
  const { capability, hasModel, wish, instructions } = printing;
  const { models, modelSettings, attachments, serverTools, limits } = capability;
  const { input, output, instructions: body } = wish;
  const description = wish.description ?? { value: firstSentence(instructions), span: body.span };
  const { auth } = printing.creator.resolved.file;
  // A login that the user allows by a flag is allowed for one run.
  const keepsAuth = auth && (auth.value === "off" || !isFlag(auth.span));
  const entries = {
    ...(keepsAuth ? { auth: auth.value } : {}),
    ...(hasModel && models[0] !== undefined ? { model: models[0] } : {}),
    ...(Object.keys(modelSettings).length > 0 ? { model_settings: { ...modelSettings } } : {}),
    ...(attachments.maxAttachments > 0 ? { attachment_policy: printAttachments(attachments) } : {}),
    sandbox: printSandbox(printing),
    ...(Object.keys(capability.toolsets).length > 0 ? { toolsets: printToolsets(printing) } : {}),
    ...(serverTools.length > 0
      ? { server_side_tools: serverTools.map(({ type, ...bounds }) => ({ tool_type: type, ...bounds })) }
      : {}),
    ...(Object.keys(limits).length > 0 ? { limits: { ...limits } } : {}),
  };
  return printFrontmatter({ description, ...(input ? { input } : {}), ...(output ? { output } : {}) }, entries, instructions);
}

function printAttachments({
  maxAttachments,
  maxTotalBytes,
  allowedSuffixes,
  deniedSuffixes,
  mediaTypes,
}: AttachmentPolicy): JsonObject {
  return {
    max_attachments: maxAttachments,
    ...(maxTotalBytes === defaultAttachmentPolicy.maxTotalBytes ? {} : { max_total_bytes: maxTotalBytes }),
    ...(allowedSuffixes.length > 0 ? { allowed_suffixes: allowedSuffixes } : {}),
    ...(deniedSuffixes.length > 0 ? { denied_suffixes: deniedSuffixes } : {}),
    ...(mediaTypes.length > 0 ? { media_types: mediaTypes } : {}),
  };
}

function printSandbox(printing: Printing): JsonObject {
  const { scopes, network, isolationRequired } = printing.capability;
  const isDefault = scopes.some(({ name }) => name === ".");
  const paths = Object.fromEntries(scopes.map((scope) => [scope.name, printScope(printing, scope)]));
  return {
    ...(isDefault ? {} : { paths }),
    ...(network ? { network_enabled: true } : {}),
    ...(isolationRequired ? { required: true } : {}),
  };
}

function printScope({ compilation, creator, path }: Printing, scope: OutlinedScope): JsonObject {
  const { name, mode, suffixes, maxFileBytes, writeApproval, writesAlwaysAsk, readApproval } = scope;
  const root = declaredRoot(compilation, creator.resolved.file, name) ?? compilation.root;
  return {
    root: relative(dirname(path), root).replaceAll("\\", "/") || ".",
    mode,
    ...(suffixes ? { suffixes } : {}),
    ...(maxFileBytes === undefined ? {} : { max_file_bytes: maxFileBytes }),
    ...(mode === "rw" && writesAlwaysAsk ? { write_approval: true } : {}),
    ...(mode === "rw" && !writeApproval ? { write_approval: false } : {}),
    ...(readApproval ? { read_approval: true } : {}),
  };
}

function printToolsets(printing: Printing): JsonObject {
  const { creator, capability, own } = printing;
  const entries = Object.entries(capability.toolsets).map(([reference, toolset]) => {
    const found = creator.resolved.references.find(({ syntax }) => syntax.reference.value === reference);
    return [reference, found ? printToolset(printing, found, { toolset, known: own.toolsets[reference] }) : {}];
  });
  return Object.fromEntries(entries);
}

interface Known {
  readonly toolset: ToolsetCapability;
  readonly known: ToolsetCapability | undefined;
}

/** A configuration that is the creator's is written as there: names of the manifest stay names. */
function printToolset(printing: Printing, { syntax }: ResolvedReference, { toolset, known }: Known): JsonObject {
  const { creator, compilation, path } = printing;
  const { approvals, config } = toolset;
  const written = creator.resolved.file.toolsets?.value.find((one) => one.reference.value === syntax.reference.value);
  const isOwn = canonicalJson(config) === canonicalJson(known?.config ?? {});
  const target = (syntax.use ?? syntax.reference).value;
  const isPath = /^\.{1,2}\//.test(target);
  const folder = compilation.files.folderOf((syntax.use ?? syntax.reference).span);
  const moved = relative(dirname(path), join(folder, target)).replaceAll("\\", "/");
  const use = isPath ? moved : syntax.use?.value;
  return {
    ...(isOwn && written ? written.config.value : config),
    ...(use === undefined ? {} : { _use: use }),
    ...(written?.prefix ? { _prefix: written.prefix.value } : {}),
    ...(Object.keys(approvals).length > 0
      ? {
          _approval_config: Object.fromEntries(
            Object.entries(approvals).map(([tool, isFree]) => [tool, { pre_approved: isFree }]),
          ),
        }
      : {}),
  };
}
