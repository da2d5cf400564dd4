import { describe, expect, it } from "vitest";
import { addSettings, referToWorker, removeSettings, UneditableWorker } from "./edit-frontmatter.ts";

const text = "---\n# first\ndescription: D # why\noutput:\n  kind(enum): [a]\n\n# last\n---\nGo.\n---\n";

describe("settings of a worker file", () => {
  it("are added and removed again, and no other byte changes", () => {
    const added = addSettings(text, ["code: tools.ts:sort", "check: 0.05"]);
    expect(added).toBe(text.replace("# last\n", "# last\ncode: tools.ts:sort\ncheck: 0.05\n"));
    expect(removeSettings(added, ["code", "check"])).toBe(text);
  });

  it("keep the line breaks of the file", () => {
    const windows = text.replaceAll("\n", "\r\n");
    expect(removeSettings(addSettings(windows, ["check: 1"]), ["check"])).toBe(windows);
    expect(addSettings(windows, ["check: 1"])).toContain("\r\ncheck: 1\r\n");
  });

  it("are removed with all of their lines", () => {
    const long = text.replace("output:", "code:\n  from: tools.ts:sort\n  on_failure: fail\noutput:");
    expect(removeSettings(long, ["code"])).toBe(text);
    expect(removeSettings(text, ["check"])).toBe(text);
  });

  it.each(["Go.\n", "---\n{ description: D }\n---\nGo.\n"])("are refused where they are no lines: %j", (one) => {
    expect(() => removeSettings(one, ["code"])).toThrow(UneditableWorker);
  });
});

describe("referToWorker", () => {
  const approved = "{ _approval_config: { due: { pre_approved: true } } }";
  it.each([
    ["due: {}", `due: ${approved}`],
    ["due:", `due: ${approved}`],
    ["due: null # a date", `due: ${approved} # a date`],
    ['"./tools.ts:due": {}', `due: ${approved}`],
    [
      "due: { _approval_config: { due: { pre_approved: false } } }",
      "due: { _approval_config: { due: { pre_approved: false } } }",
    ],
  ])("changes %s alone", (line, changed) => {
    const text = (one: string) => `---\nmodel: a:b # mine\ntoolsets:\n  shell: {}\n  ${one}\n  filesystem: {}\n---\nGo.\n`;
    const written = line.startsWith('"') ? "./tools.ts:due" : "due";
    expect(referToWorker(text(line), { written, name: "due", preApproved: true })).toBe(text(changed));
    const bare = written === "due" ? line : "due: {}";
    expect(referToWorker(text(line), { written, name: "due", preApproved: false })).toBe(text(bare));
  });

  it("changes one in a flow map, and refuses what it would have to write anew", () => {
    const flow = (one: string) => `---\ntoolsets: { shell: {}, ${one} }\n---\n`;
    const due = { written: "due", name: "due", preApproved: true };
    expect(referToWorker(flow("due: {}"), due)).toBe(flow(`due: ${approved}`));
    expect(referToWorker(flow("due"), due)).toBe(flow(`due: ${approved}`));
    expect(() => referToWorker(flow("due: { _prefix: a }"), due)).toThrow("below `due` first");
    expect(() => referToWorker(flow("other: {}"), due)).toThrow("no `due` of its own");
  });
});
