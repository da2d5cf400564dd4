import type { RenderedPrompt } from "../../program/program.ts";
import type { CallDetail } from "../../protocol/event.ts";
import { toPreview } from "../../toolsets/attachments.ts";
import type { WorkerInput } from "../config.ts";

/** All that a worker's call begins with, for whoever debugs it. */
export function describeStart({ input, files, fragments }: WorkerInput, prompt: RenderedPrompt): CallDetail {
  const [instructions, ...systemFragments] = prompt.system;
  const context = [...prompt.userFragments, ...fragments];
  return {
    input,
    ...(instructions === undefined ? {} : { instructions }),
    ...(systemFragments.length > 0 ? { systemFragments } : {}),
    prompt: prompt.user,
    ...(context.length > 0 ? { fragments: context } : {}),
    ...(files.length > 0 ? { attachments: files.map(toPreview) } : {}),
  };
}
