import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../protocol/json.ts";
import type { RecordedCall } from "./calls/recorded-calls.ts";
import { CaseLineError, digestOfCase, expectedOutput, parseCase, printCase } from "./case-file.ts";

const call: RecordedCall = {
  ...{ from: "r1/main/0.triage", worker: "triage", input: { message: "hi" }, files: [], fragments: [] },
  ...{ output: { kind: "bug" }, by: "prompt", model: "scripted:s.ts", usd: 0, ms: 12, time: 0, marks: [], digest: "" },
};

describe("case files", () => {
  it("read what they print", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (input, output) => {
        const line = printCase({ ...call, input: input as JsonValue, output: output as JsonValue });
        expect(line.slice(0, -1)).not.toContain("\n");
        const read = parseCase(line, 1);
        expect(read).toMatchObject({ worker: "triage", from: "r1/main/0.triage", by: "prompt", ms: 12 });
        expect(JSON.stringify([read?.input, read?.output])).toBe(JSON.stringify([input, output]));
      }),
    );
  });

  it.each<[what: string, line: string, message: RegExp]>([
    ["a broken line", '{"worker":', /^line 7: this is not JSON/],
    ["a list", "[]", /a case is a JSON object/],
    ["no worker", '{"input":1,"output":2}', /`worker` has to be/],
    ["another worker", '{"worker":"x","input":1,"output":2}', /case of the worker `x`, and cases of `triage`/],
    ["no input", '{"worker":"triage","output":2}', /`input` is missing/],
    ["no output", '{"worker":"triage","input":2}', /`output` is missing/],
    ["an unknown key", '{"worker":"triage","inputs":2}', /there is no key `inputs`/],
    ["a file without a digest", '{"worker":"triage","input":1,"output":2,"files":[{"name":"a"}]}', /`files` has to be/],
    ["a label of its own", '{"worker":"triage","input":1,"output":2,"label":"ok"}', /`label` has to be/],
    ["a wrong author", '{"worker":"triage","input":1,"output":2,"by":"me"}', /`by` has to be/],
  ])("name the line and what is wrong: %s", (_, line, message) => {
    const read = () => parseCase(line, 7, { worker: "triage" });
    expect(read).toThrow(message);
    expect(read).toThrow(CaseLineError);
  });

  it("pass over empty lines", () => expect(parseCase("  ", 1)).toBeUndefined());

  it("hold a candidate to the label before the record", () => {
    const read = parseCase(printCase(call), 1) ?? never();
    expect(expectedOutput(read)).toEqual({ kind: "bug" });
    expect(expectedOutput({ ...read, label: { verdict: "wrong" } })).toBeUndefined();
    expect(expectedOutput({ ...read, label: { verdict: "corrected", output: 1 } })).toBe(1);
    expect(digestOfCase(read)).toBe(digestOfCase({ ...read, output: 3 }));
  });
});

function never(): never {
  throw new Error("there is a case");
}
