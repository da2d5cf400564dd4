import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { canary, noWall, useCommands } from "./command-bench.ts";

describe.skipIf(noWall !== "")("places of the program, behind the wall", () => {
  const bench = useCommands({});
  const open = (...places: readonly string[]) =>
    bench.open([{}], { programFolder: bench.at("in"), programFiles: places.map((path) => bench.at(`in/${path}`)) });

  test("a folder of the program is read-only as a whole, and so is the target of a link", async () => {
    bench.put("in/node_modules/dep/index.js", canary);
    bench.put("in/packages/linked/index.js", canary);
    bench.put("in/real/node_modules/x/index.js", canary);
    symlinkSync("../packages/linked", bench.at("in/node_modules/linked"));
    mkdirSync(bench.at("in/lib"));
    symlinkSync("../real/node_modules", bench.at("in/lib/node_modules"));
    const scopes = await open("node_modules", "packages/linked", "lib/node_modules");
    const script = `for f in node_modules/dep/index.js packages/linked/index.js real/node_modules/x/index.js; do
      echo evil > $f; ln $f hard && echo evil > hard; rm -rf $f; mv $(dirname $f) gone; done
      echo evil > node_modules/dep/new.js; mkdir -p node_modules/new lib/node_modules/new; mv node_modules other; echo ok > lib/free; true`;
    await bench.bash(script, { scopes });
    expect(bench.read("in/node_modules/dep/index.js")).toBe(canary);
    expect(bench.read("in/packages/linked/index.js")).toBe(canary);
    expect(bench.read("in/real/node_modules/x/index.js")).toBe(canary);
    expect(readdirSync(bench.at("in/node_modules")).sort()).toEqual(["dep", "linked"]);
    expect(readdirSync(bench.at("in/real/node_modules"))).toEqual(["x"]);
    expect(bench.read("in/lib/free")).toBe("ok\n");
  });

  test("folders and files that appear at a program path are moved aside", async () => {
    bench.put("in/lib/a.ts", "good");
    const scopes = await open("lib/a.ts", "lib/a.js", "lib/node_modules", "node_modules", "templates/part.md");
    const script =
      "mkdir -p lib/node_modules/zod node_modules/zod templates; echo evil | tee lib/a.js node_modules/zod/i.js templates/part.md";
    const { movedAside } = await bench.bash(script, { scopes });
    expect([...movedAside].sort()).toEqual(["s/lib/a.js", "s/lib/node_modules", "s/node_modules", "s/templates/part.md"]);
    for (const path of movedAside) expect(existsSync(bench.at(path.replace("s/", "in/")))).toBe(false);
  });

  test("a link in the place of a folder on the way is moved aside; a folder and a link that are there stay", async () => {
    bench.put("in/there/part.md", "good");
    bench.put("in/other/x.ts", "good");
    symlinkSync("other", bench.at("in/linked"));
    const scopes = await open("lib/sub/part.md", "there/part.md", "linked/x.ts");
    const script = "mkdir -p evil/sub; echo evil > evil/sub/part.md; mv there gone; ln -s evil lib; ln -s evil unrelated";
    expect((await bench.bash(script, { scopes })).movedAside).toEqual(["s/lib"]);
    expect(existsSync(bench.at("in/lib"))).toBe(false);
    expect(bench.read("in/there/part.md")).toBe("good");
    expect(readdirSync(bench.at("in")).filter((name) => ["linked", "unrelated"].includes(name))).toEqual(["linked", "unrelated"]);
  });
});
