import type { Report } from "../diagnostics/diagnose.ts";
import type { Spanned } from "../diagnostics/source.ts";
import type { MapNode, SyntaxNode } from "../language/syntax-node.ts";
import { clipText } from "../util/clip-text.ts";

export interface Setting {
  readonly value: SyntaxNode;
  readonly report: Report;
}

/** A map with one value in it replaced or added; maps on the way are made. Keys that are there keep their place. */
export function setIn(root: MapNode, [key, ...rest]: readonly Spanned<string>[], setting: Setting): MapNode {
  if (!key) return root;
  const present = root.entries.find((entry) => entry.key.value === key.value);
  const value = rest.length === 0 ? setting.value : setInside(present?.value, { key, rest, setting });
  if (value === undefined) return root;
  if (!present) return { ...root, entries: [...root.entries, { key, value }] };
  return { ...root, entries: root.entries.map((entry) => (entry === present ? { key: entry.key, value } : entry)) };
}

interface Step {
  readonly key: Spanned<string>;
  readonly rest: readonly Spanned<string>[];
  readonly setting: Setting;
}

function setInside(present: SyntaxNode | undefined, { key, rest, setting }: Step): SyntaxNode | undefined {
  const isNothing = present === undefined || (present.kind === "scalar" && present.value === null);
  if (isNothing) return setIn({ kind: "map", span: key.span, entries: [] }, rest, setting);
  if (present.kind === "map") return setIn(present, rest, setting);
  if (present.kind === "unreadable") return undefined;
  const inner = clipText(rest[0]?.value ?? "", 60);
  const message = `\`${clipText(key.value, 60)}\` is not a map, so nothing in it is called \`${inner}\``;
  return setting.report("override-path", {
    message,
    span: key.span,
    notes: [{ message: "its value is here", span: present.span }],
  });
}
