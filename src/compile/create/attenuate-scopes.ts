import type { OutlinedScope } from "../../protocol/outline.ts";
import { contains } from "../beyond-caller.ts";
import { isAsNarrow } from "../reach.ts";
import { offer, type Refuse, type ScopeWish } from "./capability.ts";

/**
 * The scopes of a created worker: those of its creator by their names, with the same roots, since rules speak of paths by them. Rights
 * that the wish does not name are the creator's.
 */
export function attenuateScopes(
  own: readonly OutlinedScope[],
  paths: Readonly<Record<string, ScopeWish>> | undefined,
  refuse: Refuse,
): readonly OutlinedScope[] {
  const wishes = Object.entries(paths ?? { ".": {} });
  const scopes = wishes.flatMap(([name, wish]) => attenuateScope(own, { name, wish, refuse }) ?? []);
  for (const scope of scopes) reportOpened(own, { scope, scopes, refuse });
  return scopes;
}

interface Wanted {
  readonly name: string;
  readonly wish: ScopeWish;
  readonly refuse: Refuse;
}

function attenuateScope(own: readonly OutlinedScope[], { name, wish, refuse }: Wanted): OutlinedScope | undefined {
  const label = name === "." ? "`sandbox`: the default scope" : `\`sandbox.paths.${name}\``;
  const known = own.find((scope) => scope.name === name);
  if (!known) return refuse(`${label} is not the creator's; ${offerScopes(own)}`);
  if (wish.root !== undefined && wish.root !== known.root)
    return refuse(`${label}: \`root\` is that of the creator's scope; leave it out`);
  const { mode = known.mode, suffixes = known.suffixes, max_file_bytes: bytes = known.maxFileBytes } = wish;
  const asks = wish.write_approval ?? (known.writesAlwaysAsk ? true : known.writeApproval);
  const isStrict =
    mode === "rw" && (wish.write_approval === true || (wish.write_approval === undefined && known.writesAlwaysAsk));
  const scope: OutlinedScope = {
    name,
    root: known.root,
    mode,
    outside: known.outside,
    ...(known.isChosen ? { isChosen: true } : {}),
    ...(suffixes ? { suffixes } : {}),
    ...(bytes === undefined ? {} : { maxFileBytes: bytes }),
    writeApproval: asks,
    ...(isStrict ? { writesAlwaysAsk: true } : {}),
    readApproval: wish.read_approval ?? known.readApproval,
  };
  return isAsNarrow(known, scope) ? scope : refuse(`${label} goes beyond the creator's; to be had: ${describe(known)}`);
}

interface Opened {
  readonly scope: OutlinedScope;
  readonly scopes: readonly OutlinedScope[];
  readonly refuse: Refuse;
}

/**
 * The deepest of nested scopes decides, and rules of a run name it: without the inner one the rights of the outer one would hold in its
 * folder, and no rule for the inner one.
 */
function reportOpened(own: readonly OutlinedScope[], { scope, scopes, refuse }: Opened): void {
  for (const inner of own) {
    if (scopes.some(({ name }) => name === inner.name) || !contains(scope.root, inner.root)) continue;
    refuse(`\`sandbox.paths.${scope.name}\` holds \`${inner.name}\`, which has rules of its own; to be had: both`);
  }
}

function offerScopes(own: readonly OutlinedScope[]): string {
  const named = own.filter(({ name }) => name !== ".");
  return named.length < own.length ? "to be had: `sandbox: {}`, its default scope" : offer(named.map(describe).map(trimTicks));
}

function trimTicks(text: string): string {
  return text.replaceAll("`", "");
}

function describe({ name, mode, suffixes, maxFileBytes, writeApproval, readApproval }: OutlinedScope): string {
  const facts = [
    `mode: ${mode}`,
    ...(suffixes ? [`suffixes: [${suffixes.join(", ")}]`] : []),
    ...(maxFileBytes === undefined ? [] : [`max_file_bytes: ${maxFileBytes}`]),
    ...(mode === "rw" && !writeApproval ? ["write_approval: false"] : []),
    ...(readApproval ? ["read_approval: true"] : []),
  ];
  return `\`${name}: { ${facts.join(", ")} }\``;
}
