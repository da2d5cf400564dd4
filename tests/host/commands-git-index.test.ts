import { beforeEach, describe, expect, test } from "vitest";
import { noWall, useCommands, useGit } from "./command-bench.ts";

describe.skipIf(noWall !== "")("with `.git` opened", () => {
  const bench = useCommands({});
  const git = useGit(bench);
  const change = (line: string, ...opened: string[]) =>
    bench.bash(line, { rights: { writes: [bench.scopes.resolve("s")], reads: [] }, unprotected: opened });

  beforeEach(() => {
    git("in", "init", "-q", "-b", "main");
    bench.put("in/a.txt", "one\n");
    git("in", "add", "a.txt");
    git("in", "commit", "-qm", "first");
  });

  describe("an index that a command writes", () => {
    /** Stages a path of ten letters, and writes another one of this length in its place, as no command of git would. */
    const plant = (path: string, format = "100755", version = 2) => [
      `git update-index --index-version=${version}`,
      `git update-index --add --cacheinfo ${format},$(git rev-parse ${format === "160000" ? "HEAD" : "HEAD:a.txt"}),${"x".repeat(path.length)}`,
      `LC_ALL=C sed -i 's#${"x".repeat(path.length)}#${path}#' .git/index`,
      "d=$(head -c -20 .git/index | sha1sum | cut -d' ' -f1)",
      "head -c -20 .git/index > i; printf $(echo $d | sed 's/../\\\\x&/g') >> i; cat i > .git/index; rm i",
    ];

    test.each([
      [".git/hooks/post-checkout", "100755", 2],
      [".GIT/hooks/post-checkout", "100755", 4],
      ["../planted", "100755", 2],
      ["/tmp/x/planted", "100755", 2],
      ["sub/.git/config", "100644", 3],
      ["node_modules/evil", "160000", 2],
    ])("is moved aside with %s", async (path, format, version) => {
      const ran = await change(plant(path, format, version).join(" && "), ".git");
      expect(ran).toMatchObject({ exitCode: 0, movedAside: ["s/.git/index"] });
      expect(git("in", "ls-files", "-s")).toBe("");
    });

    test.each([
      ["own/lib", "160000"],
      ["..own/.github", "100644"],
    ])("stays with %s", async (path, format) => {
      const ran = await change(plant(path, format).join(" && "), ".git");
      expect(ran).toMatchObject({ exitCode: 0, movedAside: [] });
      expect(git("in", "ls-files")).toContain(`${path}\n`);
    });

    test("is moved aside where the length of a path is not that of its text, or it cannot be read", async () => {
      git("in", "update-index", "--index-version=2");
      for (const line of ["printf '\\x50' | dd of=.git/index bs=1 seek=73 count=1 conv=notrunc", "echo DIRC > .git/index"]) {
        expect((await change(line, ".git")).movedAside).toEqual(["s/.git/index"]);
        git("in", "reset", "-q");
      }
    });

    test.each([
      ["2", "update-index --index-version=2"],
      ["4", "update-index --index-version=4"],
      ["2 that is split", "update-index --split-index"],
    ])("of many files stays as git wrote it: version %s, read in blocks", async (_, line) => {
      const add =
        "for i in {1..25000}; do printf '100644 %s\\td%s/f%s\\n' $h $((i % 50)) $i; done | git -c index.threads=4 update-index --index-info";
      const ran = await change(
        `git config -l > /dev/null; h=$(git rev-parse HEAD:a.txt); ${add}; git -c index.threads=4 ${line}`,
        ".git",
      );
      expect(ran).toMatchObject({ exitCode: 0, movedAside: [] });
      expect(git("in", "ls-files").split("\n")).toHaveLength(25_002);
      if (line.includes("split")) return;
      expect(bench.read("in/.git/index")).toContain("IEOT");
      const other = await change("LC_ALL=C sed -i 's/IEOT\\(.\\{8\\}\\)./IEOT\\1\\x01/' .git/index", ".git");
      expect(other.movedAside).toEqual(["s/.git/index"]);
    });
  });
});
