import { describe, expect, test } from "vitest";
import type { JsonSchema } from "../../protocol/tool.ts";
import { parseField, parseInputJson, readFields, typeFields } from "./input-fields.ts";

const schema: JsonSchema = {
  type: "object",
  properties: {
    title: { type: "string" },
    count: { type: "integer" },
    share: { type: ["number", "null"] },
    draft: { type: "boolean" },
    tone: { enum: ["calm", "loud"] },
    level: { enum: [1, 2, "all"] },
    tags: { type: "array", items: { type: "string" } },
    sizes: { type: "array", items: { $ref: "#/$defs/size" } },
    author: { type: "object" },
    either: { anyOf: [{ type: "integer" }, { type: "string" }] },
    size: { $ref: "#/$defs/size" },
    anything: {},
    loop: { $ref: "#/properties/loop" },
  },
  $defs: { size: { type: "integer" } },
};
const options = { signal: new AbortController().signal, onWait: () => undefined };

async function typed(flags: readonly string[], of: JsonSchema = schema): Promise<unknown> {
  return typeFields(of, await readFields(flags.map(parseField), options));
}

describe("fields are typed by the schema", () => {
  test.each([
    [["title=5"], { title: "5" }],
    [["title=true"], { title: "true" }],
    [["title=a=b=c"], { title: "a=b=c" }],
    [["title=@@x"], { title: "@x" }],
    [["count=-3"], { count: -3 }],
    [["count=1e3"], { count: 1000 }],
    [["share=1"], { share: 1 }],
    [["share=null"], { share: null }],
    [["draft=False"], { draft: false }],
    [["tone=calm"], { tone: "calm" }],
    [["level=1"], { level: 1 }],
    [["level=all"], { level: "all" }],
    [["tags=a"], { tags: ["a"] }],
    [["tags=1", "tags=true"], { tags: ["1", "true"] }],
    [['tags=["a", "b"]'], { tags: ["a", "b"] }],
    [["tags=[]"], { tags: [] }],
    [["sizes=1", "sizes=2"], { sizes: [1, 2] }],
    [['author={"name":"Ada"}'], { author: { name: "Ada" } }],
    [["either=5"], { either: 5 }],
    [["either=five"], { either: "five" }],
    [["size=5"], { size: 5 }],
    [["anything=[1]"], { anything: [1] }],
    [["anything=some text"], { anything: "some text" }],
    [["loop=1"], { loop: 1 }],
  ])("%j", async (flags, expected) => {
    expect(await typed(flags)).toEqual(expected);
  });

  test("others only where the schema allows them", async () => {
    expect(await typed(["a=1", "__proto__=x"], { type: "object" })).toEqual(JSON.parse('{ "a": 1, "__proto__": "x" }'));
    expect(await typed(["a=1"], { type: "object", properties: { b: {} }, additionalProperties: { type: "string" } })).toEqual({
      a: "1",
    });
  });
});

describe("mistakes name the flag, and what is expected", () => {
  test.each([
    [["count=1.5"], "-i count=1.5: this must be a whole number"],
    [["count="], "-i count=: this must be a whole number"],
    [["share=1e999"], "-i share=1e999: this must be a number or null"],
    [["draft=yes"], "-i draft=yes: this must be true or false"],
    [["tone=shrill"], "-i tone=shrill: this must be one of calm, loud"],
    [["level=3"], "-i level=3: this must be one of 1, 2, all"],
    [["author=Ada"], "-i author=Ada: this must be an object, as JSON"],
    [["sizes=[1"], "-i sizes=[1: this must be a list, as JSON"],
    [["sizes=1", "sizes=x"], "-i sizes=x: this must be a whole number"],
    [["title=a", "title=b"], "-i title=b: this field is given twice, and is no list"],
    [["titel=a"], "-i titel=a: the entry's input has no field titel; did you mean title?"],
    [["__proto__=a"], "-i __proto__=a: the entry's input has no field __proto__; its fields: title, count,"],
    [["title"], "-i title: this must be key=value, where key is a field of the entry's input"],
    [["=a"], "-i =a: this must be key=value"],
    [["title=@none.txt"], "-i title=@none.txt: there is no file none.txt; write @FILE, @- for stdin, or @@"],
    [["title=@"], "-i title=@: there is no file's name after @"],
    [["title=@src"], "-i title=@src: src is a folder"],
  ])("%j", async (flags, message) => {
    await expect((async () => typed(flags))()).rejects.toThrow(message);
  });

  test("--input-json", () => {
    expect(parseInputJson('{"a":1}', "--input-json x")).toEqual({ a: 1 });
    expect(() => parseInputJson("3", "--input-json 3")).toThrow("--input-json 3: this must be a JSON object, with the fields");
    expect(() => parseInputJson("{", "--input-json {")).toThrow("--input-json {: this must be JSON, @FILE or -; ");
  });
});
