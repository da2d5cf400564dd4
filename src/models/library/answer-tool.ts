import type { LanguageModelV4FunctionTool } from "@ai-sdk/provider";
import type { JsonSchema } from "../../protocol/tool.ts";
import type { ModelRequest } from "../model.ts";
import type { LibraryAnswer } from "./library-answer.ts";

export interface OutputFacts {
  /** False if the server cannot constrain its answer while tools are offered: the answer is then the call of a tool. */
  readonly outputBesideTools: boolean;
  /** True if the server cannot constrain the answers of some of its models: the answer is then always the call of a tool. */
  readonly outputByTool?: boolean;
}

/** How a request asks for an answer that fits its output schema. */
export type OutputForm =
  | { readonly type: "none" }
  /** The provider constrains the answer. */
  | { readonly type: "native"; readonly schema: JsonSchema }
  /** The model calls a tool, which llm-do adds, with the answer as its arguments. `alone`: no other tool is offered. */
  | { readonly type: "tool"; readonly tool: LanguageModelV4FunctionTool; readonly alone: boolean }
  /** The schema is described, for what can be neither: no tool of ours beside the provider's own, no arguments but an object. */
  | { readonly type: "words"; readonly schema: JsonSchema };

export function outputFormOf({ output, tools, serverTools = [] }: ModelRequest, facts: OutputFacts): OutputForm {
  if (!output) return { type: "none" };
  const alone = tools.length === 0;
  if (facts.outputBesideTools || (alone && serverTools.length === 0 && !facts.outputByTool))
    return { type: "native", schema: output };
  if (serverTools.length > 0 || output["type"] !== "object") return { type: "words", schema: output };
  const taken = new Set(tools.map(({ name }) => name));
  let name = "final_answer";
  while (taken.has(name)) name += "_";
  const description = "Takes your final answer. Call it once, when you are done.";
  const inputSchema = { properties: {}, ...output } as LanguageModelV4FunctionTool["inputSchema"];
  return { type: "tool", tool: { type: "function", name, description, inputSchema }, alone };
}

/** The part of the instructions that asks for the answer; undefined if the request itself does. */
export function describeOutput(form: OutputForm): string | undefined {
  if (form.type === "tool") {
    const { name } = form.tool;
    return `Give your final answer by calling the tool \`${name}\`, and not as text. Call it alone: beside other calls it does not count.`;
  }
  if (form.type !== "words") return undefined;
  return `Give your final answer as JSON alone, without a code fence, that fits this JSON Schema:\n${JSON.stringify(form.schema)}`;
}

/**
 * Turns the call of the answer tool into the answer's text, as a provider gives it that constrains its answers. Other text of the answer
 * is dropped. Beside other calls it is text that the loop goes on from, as any text is.
 */
export function readAnswerTool(answer: LibraryAnswer, form: OutputForm): LibraryAnswer {
  if (form.type !== "tool") return answer;
  const { name } = form.tool;
  const isAnswer = (part: LibraryAnswer["content"][number]) => part.type === "tool-call" && part.toolName === name;
  const last = answer.content.findLastIndex(isAnswer);
  if (last < 0) return answer;
  const hasOthers = answer.content.some((part) => part.type === "tool-call" && !isAnswer(part));
  const content = answer.content.flatMap((part, index): LibraryAnswer["content"][number][] => {
    if (part.type === "text") return hasOthers ? [part] : [];
    if (part.type !== "tool-call" || !isAnswer(part)) return [part];
    if (index !== last) return [];
    const metadata = part.providerMetadata ? { providerMetadata: part.providerMetadata } : {};
    return [{ type: "text", text: part.input, ...metadata }];
  });
  const { unified } = answer.finishReason;
  const isWhole = !hasOthers && (unified === "tool-calls" || unified === "stop");
  return { ...answer, content, ...(isWhole ? { finishReason: { unified: "stop", raw: undefined } } : {}) };
}
