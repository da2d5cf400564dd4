import { describeScope } from "../../host/scopes/scope-refusals.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { failing } from "../results/scope-failure.ts";
import { type PreparedToolsetCall, type Tool, type Toolset, type ToolsetScope, toolMark, toolsetMark } from "../toolset.ts";
import { unknownScopes } from "../unknown-scopes.ts";
import { type FilesystemConfig, filesystemConfig, narrowFilesystem } from "./config.ts";
import { editFile } from "./edit-file.ts";
import { type FileTool, type FileWork, isOfScopes, judge } from "./file-tool.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { reconcileWrite } from "./reconcile-write.ts";
import { searchFiles } from "./search-files.ts";
import { isEverything, sees } from "./visible-scopes.ts";
import { appendFile, writeFile } from "./write-file.ts";

const fileTools: readonly FileTool[] = [readFile, writeFile, appendFile, editFile, listFiles, searchFiles];

/** Files of the worker's scopes. Reads are free and writes ask, unless a scope or a protected name says otherwise. */
export const filesystem: Toolset<FilesystemConfig> = {
  [toolsetMark]: true,
  name: "filesystem",
  config: filesystemConfig,
  requires: ["scopes"],
  tools: (config, { readable, writable }) => {
    const seen = {
      readable: readable.filter((name) => sees(config, name)),
      writable: writable.filter((name) => sees(config, name)),
    };
    return fileTools
      .filter(({ access }) => access === "read" || seen.writable.length > 0)
      .map((tool) => toTool(tool, config, seen));
  },
  narrow: narrowFilesystem,
  warnings: ({ scopes = [] }, { readable }) => unknownScopes(scopes, readable, ["scopes"]),
  targets: ({ tool, args }, { scopes }) => {
    const path = String(args["path"] ?? ".");
    try {
      const targets = isEverything(scopes, path) ? scopes.readable().map((name) => scopes.target(name)) : [scopes.target(path)];
      return toolOf(tool).access === "read" ? targets.map((read) => ({ read })) : targets;
    } catch {
      // A path that leads nowhere is refused when the call is prepared.
      return [];
    }
  },
  prepare: async ({ tool, args, config }, access) => {
    const work = await failing(() => toolOf(tool).prepare(args, { ...access, config }));
    const { canonicalArgs, facts, content, recorded } = work;
    const more = { ...(content && { content }), ...(recorded && { recorded }) };
    return { canonicalArgs, facts, ...more, targets: [], payload: work };
  },
  needsApproval: (call) => judge(toolOf(call.tool).access, workOf(call)),
  judgeRecorded: ({ tool, args, facts, own }, { declarations }) => {
    const scopes = declarations.filter(({ name }) => name === facts["scope"]);
    if (scopes.length === 0 || !isOfScopes(own)) return undefined;
    return judge(toolOf(tool).access, { scopes, virtualPath: String(args["path"]), protection: undefined });
  },
  // One verdict for each scope by itself.
  outlook: (tool, config, scopes) => {
    const { access } = toolOf(tool);
    return scopes
      .filter(({ name, mode }) => sees(config, name) && (access === "read" || mode === "rw"))
      .map((scope) => judge(access, { scopes: [scope], virtualPath: scope.name, protection: undefined }));
  },
  ruleTexts: (call) => {
    const { pathTexts, virtualPath } = workOf(call);
    return { path: pathTexts ?? [virtualPath] };
  },
  describeCall: (call) => workOf(call).description,
  preview: (call) => workOf(call).preview,
};

function toolOf(name: string): FileTool {
  const found = fileTools.find((tool) => tool.name === name);
  if (found === undefined) throw new Error(`the filesystem has no tool ${name}`);
  return found;
}

function toTool(tool: FileTool, config: FilesystemConfig, seen: Pick<ToolsetScope, "readable" | "writable">): Tool {
  const { name, properties, required } = tool;
  const isReading = tool.access === "read";
  const scopes = (isReading ? seen.readable : seen.writable).map(describeScope).join(", ");
  return {
    [toolMark]: true,
    name,
    description: `${tool.description} ${scopes === "" ? "" : `Paths begin with: ${scopes}.`}`,
    input: fromJsonSchema({ type: "object", properties, required: [...required], additionalProperties: false }),
    sideEffect: !isReading,
    ...(isReading ? {} : { reconcile: (recorded, access) => reconcileWrite(name, recorded, access) }),
    execute: async (args, runtime, payload) => {
      const access = { scopes: runtime.scopes, signal: runtime.signal, config };
      return failing(async () => {
        const work = (payload as FileWork | undefined) ?? (await tool.prepare(args, access));
        return work.execute(access);
      });
    },
  };
}

function workOf(call: PreparedToolsetCall<FilesystemConfig>): FileWork {
  return call.preparation.payload as FileWork;
}
