import { describeScope } from "../../host/scope-refusals.ts";
import type { Scopes } from "../../host/scopes.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { toToolFailure } from "../scope-failure.ts";
import {
  type PreparedToolsetCall,
  type Target,
  type Tool,
  type Toolset,
  type ToolsetScope,
  toolMark,
  toolsetMark,
} from "../toolset.ts";
import { type FilesystemConfig, filesystemConfig } from "./config.ts";
import { editFile } from "./edit-file.ts";
import { type FileTool, type FileWork, judge, outlookOf, type PreparedWork, toPreparation } from "./file-work.ts";
import { listFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { searchFiles } from "./search-files.ts";
import { isEverything } from "./visible-scopes.ts";
import { appendFile, writeFile } from "./write-file.ts";

const fileTools: readonly FileTool[] = [readFile, writeFile, appendFile, editFile, listFiles, searchFiles];

/** Files of the worker's scopes. Reads are free and writes ask, unless a scope or a protected name says otherwise. */
export const filesystem: Toolset<FilesystemConfig> = {
  [toolsetMark]: true,
  name: "filesystem",
  config: filesystemConfig,
  requires: ["scopes"],
  tools: (config, scope) => {
    const seen = seenBy(config, scope);
    return fileTools.filter((tool) => !tool.writes || seen.writable.length > 0).map((tool) => toTool(tool, config, seen));
  },
  targets: ({ tool, args }, { scopes }) =>
    targetsOf(
      fileTools.find(({ name }) => name === tool),
      args,
      scopes,
    ),
  prepare: async ({ tool, args, config }, access) => {
    const found = fileTools.find((candidate) => candidate.name === tool);
    if (found === undefined) throw new Error(`the filesystem has no tool ${tool}`);
    return toPreparation(await failing(() => found.prepare(args, { ...access, config })));
  },
  needsApproval: (call) => judge(workOf(call)),
  outlook: (tool, { scopes: names }, scopes) => {
    const found = fileTools.find(({ name }) => name === tool);
    return found
      ? outlookOf(
          found,
          scopes.filter(({ name }) => names?.includes(name) ?? true),
        )
      : [];
  },
  ruleTexts: (call) => {
    const { pathTexts } = workOf(call);
    return pathTexts ? { path: pathTexts } : {};
  },
  describeCall: (call) => workOf(call).description,
  preview: (call) => workOf(call).preview,
};

function toTool(tool: FileTool, config: FilesystemConfig, seen: Pick<ToolsetScope, "readable" | "writable">): Tool {
  const { name, properties, required } = tool;
  return {
    [toolMark]: true,
    name,
    description: `${tool.description} ${describeScopes(tool.writes ? seen.writable : seen.readable)}`,
    input: fromJsonSchema({ type: "object", properties, required: [...required], additionalProperties: false }),
    sideEffect: tool.writes,
    execute: async (args, runtime, payload) => {
      const access = { scopes: runtime.scopes, signal: runtime.signal };
      return failing(async () => {
        const work =
          (payload as FileWork | undefined) ?? ((await tool.prepare(args, { ...access, config })) satisfies PreparedWork).work;
        return work.execute({ ...access, config });
      });
    },
  };
}

/** A path that leads nowhere is refused when the call is prepared. */
function targetsOf(tool: FileTool | undefined, args: JsonObject, scopes: Scopes): readonly Target[] {
  const path = String(args["path"] ?? ".");
  try {
    const targets = isEverything(scopes, path) ? scopes.readable().map((name) => scopes.target(name)) : [scopes.target(path)];
    return tool?.writes ? targets : targets.map((read) => ({ read }));
  } catch {
    return [];
  }
}

function seenBy(config: FilesystemConfig, { readable, writable }: ToolsetScope): Pick<ToolsetScope, "readable" | "writable"> {
  const isSeen = (name: string) => config.scopes?.includes(name) ?? true;
  return { readable: readable.filter(isSeen), writable: writable.filter(isSeen) };
}

function describeScopes(names: readonly string[]): string {
  return names.length === 0 ? "" : `Paths begin with: ${names.map(describeScope).join(", ")}.`;
}

function workOf(call: PreparedToolsetCall<FilesystemConfig>): FileWork {
  return call.preparation.payload as FileWork;
}

async function failing<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw toToolFailure(error);
  }
}
