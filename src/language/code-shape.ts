import { type Fields, record } from "./collection-shapes.ts";
import { boolean, oneOf, text } from "./scalar-shapes.ts";
import type { Shape, ShapeValue } from "./shape.ts";

const fields = {
  from: { shape: text(), required: true, description: "The function: `tools.ts:NAME`, `./file.ts:NAME` or `package:NAME`." },
  on_failure: {
    shape: oneOf(["hand_over", "fail"]),
    default: "hand_over",
    description:
      "What happens where the function throws, or gives what does not fit the output: the prompt answers, or the call fails.",
  },
  history: {
    shape: boolean(),
    default: false,
    description: "Whether the function also answers a message of a conversation that has begun.",
  },
} satisfies Fields;

const long = record(fields, { note: "write `tools.ts:NAME`, or `{ from: tools.ts:NAME }`" });
const short = text();

/** `code`: a function that answers before the prompt; its name alone, or a map. */
export const codeShape: Shape<ShapeValue<typeof long>> = {
  jsonSchema: { anyOf: [short.jsonSchema, long.jsonSchema] },
  read(node, context) {
    if (node.kind !== "scalar") return long.read(node, context);
    const value = short.read(node, context);
    return value === undefined ? undefined : { from: { value, span: node.span } };
  },
};
