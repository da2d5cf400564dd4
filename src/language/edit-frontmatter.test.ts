import { describe, expect, it } from "vitest";
import { addSettings, removeSettings, UneditableWorker } from "./edit-frontmatter.ts";

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
