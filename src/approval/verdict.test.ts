import { expect, test } from "vitest";
import type { RuleEffect } from "../protocol/approval.ts";
import { blocked, needsApproval, type OwnVerdict, preApproved } from "../toolsets/toolset.ts";
import { judge } from "./verdict.ts";

/** The truth table of docs/approval.md: the toolset's own verdict, `_approval_config`, the result. */
const table: readonly (readonly [string, OwnVerdict | undefined, boolean | undefined, string])[] = [
  ["blocked", blocked("no"), undefined, "blocked"],
  ["blocked", blocked("no"), true, "blocked"],
  ["blocked", blocked("no"), false, "blocked"],
  ["asks for effects", needsApproval("r", "effects"), undefined, "ask"],
  ["asks for effects", needsApproval("r", "effects"), true, "ask"],
  ["asks by a rule", needsApproval("r", "rule"), undefined, "ask"],
  ["asks by a rule", needsApproval("r", "rule"), true, "ask"],
  ["asks by a rule", needsApproval("r", "rule"), false, "ask"],
  ["asks by default", needsApproval(), undefined, "ask"],
  ["asks by default", needsApproval(), true, "allowed"],
  ["asks by default", needsApproval(), false, "ask"],
  ["pre-approved", preApproved(), undefined, "allowed"],
  ["pre-approved", preApproved(), true, "allowed"],
  ["pre-approved", preApproved(), false, "ask"],
  ["none", undefined, undefined, "ask"],
  ["none", undefined, true, "allowed"],
  ["none", undefined, false, "ask"],
];

test.each(table)("%s, %j and pre_approved %j: %s", (_, own, approved, type) => {
  expect(judge({ own, preApproved: approved })).toMatchObject({ type, why: expect.stringMatching(/./) });
});

/** Verdicts of each row under each kind of rule: a rule moves only what is unstated. */
const ruled: readonly (readonly [string, OwnVerdict | undefined, boolean | undefined, allow: string, ask: string])[] = [
  ["blocked", blocked("no"), true, "blocked", "blocked"],
  ["asks by a rule", needsApproval("r", "rule"), undefined, "ask", "ask"],
  ["asks by a rule", needsApproval("r", "rule"), true, "ask", "ask"],
  ["asks by default", needsApproval(), undefined, "allowed", "ask"],
  ["asks by default", needsApproval(), true, "allowed", "ask"],
  ["asks by default", needsApproval(), false, "ask", "ask"],
  ["pre-approved", preApproved(), undefined, "allowed", "ask"],
  ["pre-approved", preApproved(), false, "ask", "ask"],
  ["none", undefined, undefined, "allowed", "ask"],
  ["none", undefined, true, "allowed", "ask"],
  ["none", undefined, false, "ask", "ask"],
];

test.each(ruled)(
  "%s, %j, pre_approved %j: a rule that allows makes it %s, one that asks %s, one that blocks blocked",
  (...row) => {
    const [, own, approved, allow, ask] = row;
    const typeUnder = (effect: RuleEffect) => judge({ own, preApproved: approved, ruling: { effect, why: "a rule" } }).type;
    expect([typeUnder("allow"), typeUnder("ask"), typeUnder("block")]).toEqual([allow, ask, "blocked"]);
  },
);
