import { type Fields, record } from "./collection-shapes.ts";
import { boolean, number, oneOf, text } from "./scalar-shapes.ts";
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

const checkFields = {
  share: {
    shape: number({ min: 0, max: 1 }),
    required: true,
    description: "The share of the code's answers that the prompt answers, too.",
  },
  usd: { shape: number({ min: 0 }), default: 0.1, description: "The most dollars that a run spends on it." },
} satisfies Fields;

const longCheck = record(checkFields, { note: "write `0.05`, or `{ share: 0.05, usd: 0.10 }`" });
const shortCheck = number({ min: 0, max: 1 });

/** `check`: the share of the code's answers that is compared with the prompt; a number alone, or a map. */
export const checkShape: Shape<ShapeValue<typeof longCheck>> = {
  jsonSchema: { anyOf: [shortCheck.jsonSchema, longCheck.jsonSchema] },
  read(node, context) {
    if (node.kind !== "scalar") return longCheck.read(node, context);
    const value = shortCheck.read(node, context);
    return value === undefined ? undefined : { share: { value, span: node.span } };
  },
};
