import { expect, test } from "vitest";
import { blocked, needsApproval, type OwnVerdict, preApproved } from "../toolsets/toolset.ts";
import { judge } from "./verdict.ts";

/** The truth table of docs/approval.md: the toolset's own verdict, `_approval_config`, the result. */
const table: readonly (readonly [string, OwnVerdict | undefined, boolean | undefined, string])[] = [
  ["blocked", blocked("no"), undefined, "blocked"],
  ["blocked", blocked("no"), true, "blocked"],
  ["blocked", blocked("no"), false, "blocked"],
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
