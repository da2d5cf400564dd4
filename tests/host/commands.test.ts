import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { CommandResult } from "../../src/host/commands.ts";
import { noWall, processesWith, testPath, uniqueSeconds, until, useCommands } from "./command-bench.ts";
import { canary, start } from "./swapping.ts";

const isLinux = process.platform === "linux";

describe.skipIf(noWall !== "")("commands in the wall", () => describeRunner(true));
describe.runIf(isLinux)("commands without a wall", () => describeRunner(false));

/** Tests that hold with and without a wall. */
function describeRunner(wall: boolean): void {
  const bench = useCommands({ wall });

  describe("results", () => {
    test("output, error output and exit code", async () => {
      expect(await bench.bash("echo out; echo err >&2; exit 7")).toEqual({
        exitCode: 7,
        stdout: "out\n",
        stderr: "err\n",
        dropped: { stdout: 0, stderr: 0 },
        timedOut: false,
        isolated: wall,
        movedAside: [],
        tooDeep: [],
        tooLarge: [],
      });
    });

    test("exit codes as in any shell", async () => {
      bench.put("in/plain.txt", "text");
      expect((await bench.argv(["no-such-program"])).exitCode).toBe(127);
      expect((await bench.argv(["./no-such-program"])).exitCode).toBe(127);
      expect((await bench.argv(["./plain.txt"])).exitCode).toBe(126);
      expect((await bench.bash("no-such-program")).exitCode).toBe(127);
      expect((await bench.bash("kill -9 $$")).exitCode).toBe(137);
      expect((await bench.argv(["bash", "-c", "kill -TERM $$"])).exitCode).toBe(143);
    });

    test("passes argv unchanged, without a shell", async () => {
      const words = ["*", "$HOME", "`id`", "a b", "", "--", "-n", "é\n'\"", ";", "~"];
      expect((await bench.argv(["printf", "<%s>", ...words])).stdout).toBe(words.map((word) => `<${word}>`).join(""));
      for (const builtin of ["cd", "export", "[["]) expect((await bench.argv([builtin, "/"])).exitCode).toBe(127);
    });

    test("runs scripts in bash without start-up files", async () => {
      const { stdout } = await bench.bash('echo "$BASH $-"; [[ x == x ]] && ! shopt -q login_shell && echo plain');
      expect(stdout).toMatch(/^\/\S*bash hBc\nplain\n$/);
    });

    test("stdin is empty", async () => {
      expect(await bench.argv(["cat"])).toMatchObject({ exitCode: 0, stdout: "" });
    });

    test("a working directory below the root", async () => {
      bench.put("in/a b/file", "there");
      expect((await bench.argv(["cat", "file"], { cwd: "s/a b" })).stdout).toBe("there");
      expect((await bench.bash("pwd", { cwd: "s/a b" })).stdout).toBe(`${bench.at("in/a b")}\n`);
      await expect(bench.bash("true", { cwd: "s/missing" })).rejects.toMatchObject({ type: "not_found" });
    });
  });

  describe("malformed requests", () => {
    test("NUL, nothing to run, broken text", async () => {
      for (const argv of [["echo", "a\0b"], ["ec\0ho"], [], [""], ["echo", "\ud800"]]) {
        await expect(bench.argv(argv)).rejects.toThrow(TypeError);
      }
      await expect(bench.bash("echo \0")).rejects.toThrow(TypeError);
    });

    test.each([
      "PATH",
      "LD_PRELOAD",
      "NODE_OPTIONS",
      "BASH_ENV",
      "BASH_FUNC_ls",
      "GIT_CONFIG_COUNT",
      "GIT_SSH_COMMAND",
      "HOME",
      "A=B",
      "",
    ])("the variable %j", async (name) => {
      await expect(bench.bash("true", { environment: { [name]: "x" } })).rejects.toThrow(TypeError);
    });

    test("reports a command line that is too long for the system", async () => {
      const result = await bench.argv(["true", "x".repeat(200_000)]);
      expect(result).toMatchObject({ exitCode: 126, stdout: "" });
      const environment = { BIG: "x".repeat(200_000) };
      expect(await bench.bash("true", { environment })).toMatchObject({ exitCode: 126 });
    });
  });

  describe("environment", () => {
    test("is an allow-list", async () => {
      const environment = {
        PATH: testPath,
        LANG: "de_DE.UTF-8",
        LC_ALL: "C",
        TZ: "Asia/Tokyo",
        API_KEY: "secret-value",
        SSH_AUTH_SOCK: "secret-value",
        LD_LIBRARY_PATH: "secret-value",
        NODE_OPTIONS: "--secret-value",
        BASH_ENV: "secret-value",
        "BASH_FUNC_ls%%": "() { echo secret-value; }",
        LC_SECRET_1: "secret-value",
      };
      const { host } = bench;
      try {
        bench.host = (await import("../../src/host/node-host.ts")).createNodeHost({ environment, wall });
        bench.scopes = await bench.open([{}]);
        const { stdout } = await bench.argv(["env"], { environment: { OWN: "mine" } });
        expect(stdout).not.toContain("secret-value");
        const names = stdout.split("\n").filter((line) => line !== "");
        expect(names).toEqual(expect.arrayContaining(["LANG=de_DE.UTF-8", "LC_ALL=C", "TZ=Asia/Tokyo", "TERM=dumb", "OWN=mine"]));
        expect(names).toEqual(expect.arrayContaining(["GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_NOSYSTEM=1"]));
      } finally {
        bench.host = host;
      }
    });

    test("has a HOME that is empty, writable and gone afterwards", async () => {
      const first = await bench.bash("ls -A --ignore=.gitconfig ~; echo x > ~/.bashrc && cd && pwd -P");
      const home = first.stdout.trim();
      expect(home).toMatch(/^\/\S+$/);
      const second = await bench.bash("ls -A --ignore=.gitconfig ~");
      expect(second).toMatchObject({ exitCode: 0, stdout: "" });
      expect(() => readFileSync(`${home}/.bashrc`)).toThrow();
    });

    test("PATH has no entry that is relative, missing, or within a writable scope", async () => {
      mkdirSync(bench.at("in/bin"));
      mkdirSync(bench.at("tools"));
      bench.put("in/bin/evil", "#!/bin/sh\necho evil");
      bench.put("tools/good", "#!/bin/sh\necho good");
      symlinkSync(bench.at("in/bin"), bench.at("alias"));
      const { chmodSync } = await import("node:fs");
      for (const file of ["in/bin/evil", "tools/good"]) chmodSync(bench.at(file), 0o755);
      const entries = [bench.at("in/bin"), bench.at("alias"), "bin", "", bench.at("missing"), bench.at("tools")];
      const environment = { PATH: [...entries, "/usr/bin", "/bin"].join(":") };
      bench.host = (await import("../../src/host/node-host.ts")).createNodeHost({ environment, wall });
      bench.scopes = await bench.open([{}]);
      expect((await bench.bash("echo $PATH")).stdout).toBe(`${bench.at("tools")}:/usr/bin:/bin\n`);
      expect((await bench.argv(["good"])).stdout).toBe("good\n");
      expect((await bench.argv(["evil"])).exitCode).toBe(127);
      expect(await bench.host.commands.which("good", bench.scopes)).toBe(bench.at("tools/good"));
      expect(await bench.host.commands.which("evil", bench.scopes)).toBeUndefined();
      expect(await bench.host.commands.which("/usr/bin/env")).toBeUndefined();
    });
  });

  describe("output limits", () => {
    test("keep the tail of a short one in whole characters", async () => {
      const script = "for i in $(seq 1000); do printf 'é€😀'; done; printf '%03d' 7 >&2";
      for (const maxOutputBytes of [0, 1, 2, 3, 4, 5, 8, 9, 10, 100]) {
        const { stdout, stderr, dropped } = await bench.bash(script, { maxOutputBytes });
        expect(stdout).not.toContain("\ufffd");
        expect("é€😀".repeat(1000).endsWith(stdout)).toBe(true);
        const kept = Buffer.byteLength(stdout);
        expect(kept).toBeLessThanOrEqual(maxOutputBytes);
        expect(kept).toBeGreaterThan(maxOutputBytes - 4);
        expect(dropped).toEqual({ stdout: 9000 - kept, stderr: 3 - stderr.length });
      }
    });

    test("300 MB go by in little memory", { timeout: 120_000 }, async () => {
      const before = process.memoryUsage().rss;
      let highest = before;
      const watch = setInterval(() => {
        highest = Math.max(highest, process.memoryUsage().rss);
      }, 10);
      const result = await bench.bash("head -c 300000000 /dev/zero | tr '\\0' x; echo end", { timeoutMilliseconds: 100_000 });
      clearInterval(watch);
      expect(result.dropped.stdout).toBe(300_000_004 - 50_000);
      expect(result.stdout).toMatch(/^x{10000}\n\[\d+ bytes are left out here\]\nx+end\n$/);
      expect(highest - before).toBeLessThan(150_000_000);
    });
  });

  describe("an end", () => {
    test("at the time limit returns -1 and the output so far", { timeout: 20_000 }, async () => {
      const seconds = uniqueSeconds();
      const result = await bench.bash(`echo begun; sleep ${seconds}; echo not reached`, { timeoutMilliseconds: 700 });
      expect(result).toMatchObject({ exitCode: -1, stdout: "begun\n", timedOut: true });
      expect(processesWith(seconds)).toEqual([]);
    });

    test("at the time limit leaves a short time to clean up", { timeout: 30_000 }, async () => {
      const tidy = await bench.bash("trap 'echo tidied; exit' TERM; sleep 50 & wait", { timeoutMilliseconds: 3000 });
      expect(tidy).toMatchObject({ exitCode: -1, stdout: "tidied\n" });
      const seconds = uniqueSeconds();
      const began = performance.now();
      const stubborn = await bench.bash(`trap '' TERM; while true; do sleep ${seconds}; done`, { timeoutMilliseconds: 2000 });
      expect(stubborn.exitCode).toBe(-1);
      expect(performance.now() - began).toBeGreaterThan(3500);
      expect(processesWith(seconds)).toEqual([]);
    });

    test("at an abort rejects with the reason, and reports the output", { timeout: 20_000 }, async () => {
      const seconds = uniqueSeconds();
      const controller = new AbortController();
      const interrupted: CommandResult[] = [];
      const onInterrupted = (result: CommandResult) => interrupted.push(result);
      const running = bench.bash(`echo begun; sleep ${seconds}`, { signal: controller.signal, onInterrupted });
      await until(() => processesWith(seconds).length > 0);
      const reason = new Error("enough");
      controller.abort(reason);
      await expect(running).rejects.toBe(reason);
      expect(interrupted).toMatchObject([{ stdout: "begun\n" }]);
      expect(processesWith(seconds)).toEqual([]);
      await expect(bench.bash("true", { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    });

    const daemons: readonly (readonly [string, (seconds: string) => string])[] = [
      ["a job in the background", (seconds) => `sleep ${seconds} &`],
      ["one that holds the pipes in a session of its own", (seconds) => `setsid sleep ${seconds} &`],
      ["forked twice", (seconds) => `( ( setsid nohup sleep ${seconds} >/dev/null 2>&1 & ) & );`],
    ];
    test.each(daemons)("leaves nothing behind: %s", { timeout: 30_000 }, async (_, daemon) => {
      const seconds = uniqueSeconds();
      const began = performance.now();
      expect(await bench.bash(`${daemon(seconds)} sleep 0.2; echo done`)).toMatchObject({ exitCode: 0, stdout: "done\n" });
      expect(processesWith(seconds)).toEqual([]);
      expect(performance.now() - began).toBeLessThan(15_000);
      const late = await bench.bash(`${daemon(seconds)} sleep 50`, { timeoutMilliseconds: 600 });
      expect(late.timedOut).toBe(true);
      expect(processesWith(seconds)).toEqual([]);
      const controller = new AbortController();
      const running = bench.bash(`${daemon(seconds)} sleep 50`, { signal: controller.signal });
      await until(() => processesWith(seconds).length > 0);
      controller.abort(new Error("enough"));
      await expect(running).rejects.toThrow("enough");
      expect(processesWith(seconds)).toEqual([]);
    });

    test("closes all descriptors of ours", async () => {
      const { readdirSync } = await import("node:fs");
      bench.put("in/package.json", "{}");
      await bench.bash("true");
      const before = readdirSync("/proc/self/fd").length;
      await bench.bash("true");
      await bench.argv(["nothing"]);
      await bench.bash("sleep 5", { timeoutMilliseconds: 300 });
      await bench.bash("true", { cwd: "s/missing" }).catch(() => undefined);
      expect(readdirSync("/proc/self/fd").length).toBe(before);
    });
  });

  describe("protected names", () => {
    test("that appear are moved aside and reported", async () => {
      bench.put("in/deep/er/file", "x");
      const script = `mkdir .git && echo x > .git/config; echo KEY=1 > deep/er/.env; echo x > new.worker; mkdir -p .github/workflows
        echo x > .github/workflows/a.yml; mkdir a && echo '{}' > a/package.json; echo x > plain.txt; ln -s / .vscode`;
      const { movedAside } = await bench.bash(script);
      const expected = ["s/.git", "s/.github/workflows", "s/.vscode", "s/a/package.json", "s/deep/er/.env", "s/new.worker"];
      expect([...movedAside].sort()).toEqual(expected);
      const { stdout } = await bench.bash("find . -mindepth 1 | sort");
      const names = stdout.replace(/moved-aside-[0-9a-f]+/g, "moved-aside");
      expect(names.trim().split("\n")).toEqual(
        [
          "./.github",
          "./.github/workflows.moved-aside",
          "./.github/workflows.moved-aside/a.yml",
          "./a",
          "./a/package.json.moved-aside",
          "./deep",
          "./deep/er",
          "./deep/er/env.moved-aside",
          "./deep/er/file",
          "./git.moved-aside",
          "./git.moved-aside/config",
          "./new.worker.moved-aside",
          "./plain.txt",
          "./vscode.moved-aside",
        ].sort(),
      );
    });

    test("below the deepest level are hidden with their folder, and new ones are moved aside", async () => {
      const levels = (first: string, count: number) => [first, ...Array<string>(count).fill("d")].join("/");
      bench.put(`in/${levels("old", 201)}/.env`, "KEY=1");
      const script = `(cd ${levels("old", 200)} && ls -a d) 2>&1; mkdir -p ${levels("new", 205)} && echo x > ${levels("new", 205)}/.env`;
      const { stdout, movedAside, tooDeep } = await bench.bash(script);
      expect(stdout.includes(".env")).toBe(!wall);
      expect(tooDeep).toEqual([`s/${levels("old", 200)}`]);
      expect(movedAside).toEqual([`s/${levels("new", 200)}`]);
      expect(readFileSync(bench.at(`in/${levels("old", 201)}/.env`), "utf8")).toBe("KEY=1");
      const again = await bench.bash("true");
      expect(again.movedAside).toEqual([]);
      expect(again.tooDeep).toHaveLength(2);
    });

    test("are moved aside after failures, and where the command tried to hide them", { timeout: 30_000 }, async () => {
      await bench.bash("mkdir .git; sleep 50", { timeoutMilliseconds: 500 });
      const hiding =
        "mkdir -p d/e && touch d/package.json d/e/tools.worker && chmod 111 d/e && chmod 000 d; touch .env; chmod 111 .";
      expect([...(await bench.bash(hiding)).movedAside].sort()).toEqual(["s/.env", "s/d/e/tools.worker", "s/d/package.json"]);
      const { stdout } = await bench.bash("find . -name .git -o -name .env -o -name package.json -o -name '*.worker'");
      expect(stdout).toBe("");
    });

    test("that a request opens are left alone", async () => {
      const asked = { unprotected: [".GIT", ".git/Config", "package.json"] };
      expect((await bench.bash("mkdir .git; echo > package.json; echo > .env", asked)).movedAside).toEqual(["s/.env"]);
      bench.put("in/.git/config", "old");
      expect((await bench.bash("echo new > .git/config; cat .git/config", asked)).stdout).toBe("new\n");
    });

    test("that moved with their folder stay", async () => {
      bench.put("in/a/.git/config", "x");
      bench.put("in/a/package.json", "{}");
      expect(await bench.bash("mv a b; ls -A b")).toMatchObject({ stdout: ".git\npackage.json\n", movedAside: [] });
      expect(bench.read("in/b/.git/config")).toBe("x");
    });

    test("that llm-do wrote meanwhile stay", async () => {
      const running = bench.bash("while [ ! -e go ]; do sleep 0.05; done; echo > .env");
      await until(() => processesWith("0.05").length > 0);
      await bench.scopes.write("s/package.json", Buffer.from("{}"), { expect: undefined });
      await bench.scopes.write("s/.vscode/settings.json", Buffer.from("{}"), { expect: undefined });
      await bench.host.files.makeDirectory(bench.at("in/.llm-do/runs"));
      bench.put("in/go", "");
      expect((await running).movedAside).toEqual(["s/.env"]);
      expect(bench.read("in/package.json")).toBe("{}");
    });
  });

  describe("a swapped working directory", () => {
    test("starts the command in the opened one, or not at all", { timeout: 120_000 }, async () => {
      bench.put("in/folder/file", "inside");
      bench.put("in/decoy/file", "decoy");
      const child = await start("swap.js", bench.at("in/folder"), bench.at("in/decoy"));
      try {
        let ran = 0;
        // Under load the swaps can go on so long that no start finds the folder in its place.
        for (let n = 0; n < 40 || (ran === 0 && n < 2000); n++) {
          const result = await bench.bash("cat file", { cwd: "s/folder" }).catch(() => undefined);
          expect(["inside", "", undefined]).toContain(result?.stdout);
          if (result?.stdout === "inside") ran++;
        }
        expect(ran).toBeGreaterThan(0);
      } finally {
        child.kill("SIGKILL");
      }
    });

    test("keeps roots where they were opened", { timeout: 120_000 }, async () => {
      bench.put("in/file", "inside");
      const child = await start("swap.js", bench.at("in"), bench.at("outside"));
      try {
        for (let n = 0; n < 30; n++) {
          const result = await bench.bash(`cat file; echo x > new-${n}`).catch(() => undefined);
          expect(result?.stdout ?? "").not.toContain(canary);
        }
      } finally {
        child.kill("SIGKILL");
      }
      const { readdirSync } = await import("node:fs");
      expect(readdirSync(bench.at("outside"))).toEqual(["file"]);
    });
  });
}
