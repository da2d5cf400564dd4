/** The names that a module exports, TypeScript included, read from its text alone: nothing runs. `export *` is not followed. */
export async function exportNames(text: string): Promise<string[]> {
  const { init, parse } = await import("es-module-lexer");
  await init;
  const [, exports] = parse(text);
  return exports.flatMap((found) => (found.type === "reexport-all" || found.typeOnly ? [] : [found.name]));
}
