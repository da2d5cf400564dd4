import type { JsonSchema } from "../protocol/tool.ts";
import { recordSchema } from "./shapes/collection-shapes.ts";
import { extraKeys, workerKeys } from "./worker-keys.ts";

/** The JSON Schema of a worker file's frontmatter, for editors. It is made from the table that the parser reads by. */
export const frontmatterSchema: JsonSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "Frontmatter of a .worker file",
  ...recordSchema({ ...workerKeys, ...extraKeys }),
  patternProperties: { "^x-": { description: "Your own keys." } },
};
