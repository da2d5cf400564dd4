import { isMap, parseDocument } from "yaml";

/** Changes one value of a YAML map and keeps the rest with its comments. `undefined` removes it, and a map that is empty then. */
export function changeYaml(text: string, path: readonly string[], value: string | undefined): string {
  const document = parseDocument(text, { logLevel: "silent" });
  if (value !== undefined) document.setIn(path, value);
  else if (document.hasIn(path)) {
    document.deleteIn(path);
    const parent = path.slice(0, -1);
    const left = parent.length > 0 ? document.getIn(parent) : undefined;
    if (isMap(left) && left.items.length === 0) document.deleteIn(parent);
  }
  return isMap(document.contents) && document.contents.items.length === 0 ? "" : document.toString({ lineWidth: 0 });
}
