import { parseRule, type ReadRule, type RulePattern } from "../../approval/rules/approval-rule.ts";
import type { DiagnosticList } from "../../diagnostics/diagnostic-list.ts";
import { positionAt } from "../../diagnostics/position.ts";
import type { Spanned } from "../../diagnostics/source.ts";
import type { ManifestFile } from "../../language/manifest.ts";
import type { ApprovalRule, RuleEffect } from "../../protocol/approval.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { errorMessage } from "../../util/text/error-message.ts";
import { createFlagSource, wholeOf } from "../flag.ts";

/** A rule of the run, and where it is written. */
export interface LinkedRule extends ReadRule {
  readonly written: Spanned<string>;
}

/** The manifest's rules and those that a run was given. Reports the ones that cannot be read. */
export function linkRules(
  manifest: ManifestFile | undefined,
  given: readonly ApprovalRule[],
  diagnostics: DiagnosticList,
): readonly LinkedRule[] {
  const ofManifest = (manifest?.approval?.value.rules?.value ?? []).map(({ effect, rule }) => {
    const { source, start } = rule.span;
    return { effect: effect.value, written: rule, source: `${source.name}:${positionAt(source, start).line}` };
  });
  const ofRun = given.map(({ effect, rule, source = "the run's policy" }) => {
    const text = String(rule);
    return { effect, source, written: { value: text, span: wholeOf(createFlagSource(`${source} ${text}`, text)) } };
  });
  return [...ofManifest, ...ofRun].flatMap((one) => readRule(one, diagnostics) ?? []);
}

/** A tool that a test speaks of, as `tool`, `worker/tool` or, where it is a rule, `worker/tool(pattern)`. */
export interface Mention {
  readonly written: Spanned<string>;
  readonly isRule: boolean;
}

export interface LinkedMention extends Mention {
  readonly pattern: RulePattern;
}

export function linkMentions(mentions: readonly Mention[], diagnostics: DiagnosticList): readonly LinkedMention[] {
  return mentions.flatMap((mention) => {
    const read = readRule({ effect: "allow", source: "a test", written: mention.written }, diagnostics);
    return read ? [{ ...mention, pattern: read.pattern }] : [];
  });
}

interface WrittenRule {
  readonly effect: RuleEffect;
  readonly source: string;
  readonly written: Spanned<string>;
}

function readRule({ effect, source, written }: WrittenRule, diagnostics: DiagnosticList): LinkedRule | undefined {
  const { value: rule, span } = written;
  try {
    const pattern: RulePattern = parseRule(rule);
    return { effect, source, rule, pattern, written };
  } catch (thrown) {
    const message = `\`${clipText(rule, 80)}\` is no rule: ${errorMessage(thrown)}`;
    return diagnostics.report("approval-rule", { message, span });
  }
}
