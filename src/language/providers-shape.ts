import { clipText } from "../util/clip-text.ts";
import { mapOf, type NamedValue, type RecordOf, record } from "./collection-shapes.ts";
import { oneOf, text } from "./scalar-shapes.ts";
import { type Place, refined, type Shape } from "./shape.ts";
import type { SyntaxNode } from "./syntax-node.ts";

/** An address with a variable in it is checked when the variable is known. */
const address = refined(text(), (value, node, place) => {
  const problem = value.includes("${") ? undefined : baseUrlProblem(value);
  if (problem === undefined) return value;
  return place.report("invalid-value", { message: `\`${place.path}\` ${problem}`, span: node.span });
});

const fields = {
  type: {
    shape: oneOf("openai-compatible"),
    required: true,
    description: "What it speaks: `openai-compatible` is OpenAI's chat completions.",
  },
  base_url: {
    shape: address,
    required: true,
    description: "Where it is, such as `http://localhost:8000/v1`. `${NAME}` is a variable of the environment.",
  },
  api_key: { shape: text(), description: "Its key, as `${NAME}`: a variable of the environment. Without one none is sent." },
} as const;

export type ProviderSyntax = RecordOf<typeof fields>;

/** `providers`: servers of models, by the name that stands before the colon of a model's id. */
export const providersShape: Shape<readonly NamedValue<ProviderSyntax>[]> = mapOf(
  record(fields, { note: "write `{ type: openai-compatible, base_url: … }`" }),
  { checkName: checkProviderName, note: "write `mine: { type: openai-compatible, base_url: … }`" },
);

/** The part of a model's id before the colon is read in lower case. */
function checkProviderName(value: string, node: Pick<SyntaxNode, "span">, place: Place): boolean {
  if (/^[a-z][a-z0-9_-]{0,63}$/.test(value)) return true;
  const message = `\`${clipText(value, 80)}\` is not the name of a provider`;
  const note = "it is a lower-case letter, then lower-case letters, digits, `_` or `-`, 64 characters in all";
  place.report("invalid-name", { message, span: node.span, note });
  return false;
}

/** Why a text is no address of a server, to continue what it is called by; undefined where it is one. */
export function baseUrlProblem(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return "has to be an `http://` or `https://` address";
  if (url.username || url.password) return "must not hold a user name or password; write the key as `api_key`";
  return url.search || url.hash ? "must not hold a `?` or `#`: requests go to paths below it" : undefined;
}
