import { fromJsonSchema } from "../../schema/from-json-schema.ts";
import { formatCount } from "../../util/text/format-count.ts";
import { wholeCharacterAt } from "../filesystem/text.ts";
import { preApproved, type Tool, toolFailure, toolMark, toolsetMark } from "../toolset.ts";

/** The name of the tool that reads on where a result was cut. No other tool can have it. */
export const readResultName = "read_result";

export interface ReadResultSource {
  /** The most characters that one call returns. */
  readonly most: number;
  /** Resolves with the whole text of a result that was cut; undefined if there is no such result, or it is gone. */
  read(id: string): Promise<string | undefined>;
}

/** A part of a result's text, and the call that reads on. */
export interface ResultPart {
  readonly id: string;
  readonly offset: number;
  /** In UTF-16 units. */
  readonly most: number;
}

/** A toolset of one tool, which reads what was cut off the results of one call of a worker. */
export function readResultToolset({ most, read }: ReadResultSource) {
  const tool: Tool = {
    [toolMark]: true,
    name: readResultName,
    description: "Reads on in a tool result that was cut. id and offset are those that the cut result names.",
    input: fromJsonSchema({
      type: "object",
      properties: {
        id: { type: "string", description: "Names the result." },
        offset: { type: "integer", minimum: 0, description: "The character to begin with. Default 0." },
      },
      required: ["id"],
      additionalProperties: false,
    }),
    sideEffect: false,
    execute: async ({ id, offset = 0 }) => {
      const text = await read(String(id));
      if (text === undefined)
        throw toolFailure("not_found", `there is no result \`${id}\` to read`, "make the call again that it came from");
      return showPart(text, { id: String(id), offset: Number(offset), most });
    },
  };
  const toolset = Object.freeze({
    [toolsetMark]: true as const,
    name: readResultName,
    tools: () => [tool],
    needsApproval: () => preApproved("it reads results that the model was given"),
  });
  const approvals: ReadonlyMap<string, boolean> = new Map();
  return { reference: readResultName, toolset, config: undefined, approvals, tools: [tool] } as const;
}

/** A part of a text with a line that says which part, and how to read on. */
export function showPart(text: string, { id, offset, most }: ResultPart): string {
  const start = wholeCharacterAt(text, Math.min(offset, text.length));
  const end = wholeCharacterAt(text, Math.min(start + most, text.length));

  const onward = `read on with ${readResultName}(${JSON.stringify({ id, offset: end })})`;
  const rest = end < text.length ? onward : "this is the end";
  return `${text.slice(start, end)}\n\n[characters ${formatCount(start)} to ${formatCount(end)} of ${formatCount(text.length)}; ${rest}]`;
}
