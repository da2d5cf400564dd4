// Makes the JSON Schemas of what llm-do writes for programs from the types of it.
import { join } from "node:path";
import { createGenerator } from "ts-json-schema-generator";

const root = join(import.meta.dirname, "..");

/** The shipped schema's name, with the type and the file that it is made of. */
export const dataSchemas = {
  event: { type: "RunEvent", path: "src/protocol/event.ts", title: "A line of `--events`: an event of a run" },
  result: { type: "JsonResult", path: "src/cli/run/json-result.ts", title: "The object of `--json`: the result of a run" },
} as const;

/** JSON Schema 2020-12. Unknown members are allowed: they may be added without a new version. */
export function renderDataSchema(name: keyof typeof dataSchemas): string {
  const { type, path, title } = dataSchemas[name];
  const generator = createGenerator({
    ...{ path: join(root, path), type, tsconfig: join(root, "tsconfig.build.json") },
    ...{ topRef: false, additionalProperties: true, skipTypeCheck: true, expose: "all" },
  });
  const { $schema: _, definitions, ...schema } = generator.createSchema(type);
  const whole = {
    ...{ $schema: "https://json-schema.org/draft/2020-12/schema", $id: `urn:llm-do:${name}`, title },
    ...schema,
    $defs: definitions,
  };
  return `${JSON.stringify(whole, undefined, 2).replaceAll('"#/definitions/', '"#/$defs/')}\n`;
}
