import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { among, atMost, type NarrowKey, narrowEach } from "../../toolsets/narrow-lists.ts";
import { getOwn } from "../../util/get-own.ts";
import { contains } from "../powers/beyond-caller.ts";
import { offer, type Refuse } from "./powers.ts";

type Scopes = Readonly<Record<string, JsonObject>>;

/**
 * The scopes of a created worker: those of its creator by their names, with the same roots, since rules speak of paths by them. Rights
 * that the wish does not name are the creator's.
 */
export function narrowScopes(own: Scopes, wish: Scopes, refuse: Refuse): Scopes {
  const scopes = Object.entries(wish).flatMap(([name, wanted]): [string, JsonObject][] => {
    const label = name === "." ? "`sandbox`: the default scope" : `\`sandbox.paths.${name}\``;
    const known = getOwn(own, name);
    if (!known) {
      refuse(`${label} is not the creator's; ${offerScopes(own)}`);
      return [];
    }
    const beyond: string[] = [];
    const scope = narrowEach({ own: known, wish: wanted, refuse: (key) => beyond.push(key) }, scopeKeys);
    if (Object.keys(wanted).some((key) => !getOwn(scopeKeys, key))) beyond.push(name);
    if (beyond.includes("root")) refuse(`${label}: \`root\` is that of the creator's scope; leave it out`);
    else if (beyond.length > 0) refuse(`${label} goes beyond the creator's; to be had: \`${describe(name, known)}\``);
    const { write_approval: _, ...read } = scope;
    return beyond.length > 0 ? [] : [[name, scope["mode"] === "ro" ? read : scope]];
  });
  for (const [name, scope] of scopes) reportOpened(own, { name, scope, scopes: Object.fromEntries(scopes), refuse });
  return Object.fromEntries(scopes);
}

/** One of these values, or a later one. */
function noFreerThan(values: readonly (JsonValue | undefined)[]): NarrowKey {
  return (own, wish, refuse) => {
    if (values.indexOf(wish) < values.indexOf(own)) refuse("it is freer");
    return wish;
  };
}

const scopeKeys: Readonly<Record<string, NarrowKey>> = {
  root: (own, wish, refuse) => {
    if (own !== wish) refuse("it is another folder");
    return wish;
  },
  mode: noFreerThan(["rw", "ro"]),
  suffixes: among("none"),
  max_file_bytes: atMost(),
  write_approval: noFreerThan([false, undefined, true]),
  read_approval: noFreerThan([undefined, false, true]),
};

interface Opened {
  readonly name: string;
  readonly scope: JsonObject;
  readonly scopes: Scopes;
  readonly refuse: Refuse;
}

/**
 * The deepest of nested scopes decides, and rules of a run name it: without the inner one the rights of the outer one would hold in its
 * folder, and no rule for the inner one.
 */
function reportOpened(own: Scopes, { name, scope, scopes, refuse }: Opened): void {
  for (const [inner, { root }] of Object.entries(own)) {
    if (Object.hasOwn(scopes, inner) || !contains(String(scope["root"]), String(root))) continue;
    refuse(`\`sandbox.paths.${name}\` holds \`${inner}\`, which has rules of its own; to be had: both`);
  }
}

function offerScopes(own: Scopes): string {
  if (Object.hasOwn(own, ".")) return "to be had: `sandbox: {}`, its default scope";
  return offer(Object.entries(own).map(([name, scope]) => describe(name, scope)));
}

function describe(name: string, { root: _, ...rights }: JsonObject): string {
  const facts = Object.entries(rights).map(([key, value]) => `${key}: ${Array.isArray(value) ? `[${value.join(", ")}]` : value}`);
  return `${name}: { ${facts.join(", ")} }`;
}
