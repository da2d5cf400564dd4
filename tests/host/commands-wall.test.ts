import { type ChildProcess, execFileSync, fork, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import {
  canary,
  noWall,
  processesThatMention,
  processesWith,
  testPath,
  uniqueSeconds,
  until,
  useCommands,
} from "./command-bench.ts";
import { createRandom, withSeed } from "./seeded.ts";

const killRuns = Number(process.env["LLM_DO_KILL_RUNS"] ?? 5);

/** Each test does the forbidden thing, and looks for its effect; beside it, that what is allowed works. */
describe.skipIf(noWall !== "")("the wall", () => {
  const bench = useCommands({});
  const started: ChildProcess[] = [];
  const servers: Server[] = [];
  afterEach(async () => {
    for (const child of started.splice(0)) child.kill("SIGKILL");
    for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  });

  describe("files", () => {
    test("prevents every way to write outside scopes", async () => {
      const outside = bench.at("outside");
      const targets = [`${outside}/new`, `${outside}/file`, "/etc/llm-do-test", "/usr/llm-do-test", "/opt/llm-do-test"];
      for (const target of targets) {
        const tried = await bench.bash(`echo x > ${target} || cp /etc/hosts ${target} || ln /etc/hosts ${target}`);
        expect(tried.exitCode).not.toBe(0);
      }
      await bench.bash(`mkdir -p ${outside} 2>/dev/null; echo x > ${outside}/new; echo x > /tmp/llm-do-test; echo ok > in-scope`);
      expect(readdirSync(outside)).toEqual(["file"]);
      expect(bench.read("outside/file")).toBe(canary);
      expect(existsSync("/tmp/llm-do-test")).toBe(false);
      expect(bench.read("in/in-scope")).toBe("ok\n");
    });

    test("prevents reads outside scopes", async () => {
      const { stdout } = await bench.bash(
        `cat ${bench.at("outside/file")} ../outside/file; cat /etc/shadow; ls -A /home /root /mnt /srv`,
      );
      expect(stdout).not.toContain("canary");
      expect(stdout).not.toContain("root:");
      expect(stdout.trim()).toBe("");
    });

    test("resolves links inside the wall's view alone", async () => {
      symlinkSync(bench.at("outside"), bench.at("in/link"));
      symlinkSync("../outside/file", bench.at("in/file-link"));
      const { stdout } = await bench.bash("cat link/file file-link; echo x > link/new; echo x > file-link; echo done");
      expect(stdout).toBe("done\n");
      expect(readdirSync(bench.at("outside"))).toEqual(["file"]);
      expect(bench.read("outside/file")).toBe(canary);
    });

    test("keeps file tools from following a link that a command made", async () => {
      await bench.bash(`ln -s ${bench.at("outside")} folder; ln -s ${bench.at("outside/file")} file; ln -s .. up`);
      for (const path of ["s/folder/file", "s/file", "s/up/outside/file"]) {
        await expect(bench.scopes.read(path)).rejects.toMatchObject({ type: "path_outside_scope" });
        const writing = bench.scopes.write(path, Buffer.from("x"), { expect: undefined });
        await expect(writing).rejects.toMatchObject({ type: "path_outside_scope" });
      }
      expect(bench.read("outside/file")).toBe(canary);
    });

    test("shows a folder of the system that is a scope, its links as they are", async () => {
      const scopes = await bench.open([{ root: "/etc", mode: "ro" }]);
      const { stdout } = await bench.bash("readlink localtime || cat hostname; cat /etc/passwd > /dev/null; echo $?", { scopes });
      const isLink = lstatSync("/etc/localtime", { throwIfNoEntry: false })?.isSymbolicLink();
      expect(stdout).toBe(`${isLink ? `${readlinkSync("/etc/localtime")}\n` : readFileSync("/etc/hostname", "utf8")}0\n`);
    });

    test("lets the deepest of nested scopes decide", async () => {
      mkdirSync(bench.at("in/ro/rw"), { recursive: true });
      const names = { ro: "in/ro", deep: "in/ro/rw" };
      const scopes = await bench.open([
        {},
        { name: "ro", root: bench.at(names.ro), mode: "ro" },
        { name: "deep", root: bench.at(names.deep) },
      ]);
      await bench.bash("echo x > a; echo x > ro/b; echo x > ro/rw/c; mv ro gone; rm -r ro/b; mv ro/rw ro/gone", { scopes });
      expect(readdirSync(bench.at("in")).sort()).toEqual(["a", "ro"]);
      expect(readdirSync(bench.at("in/ro"))).toEqual(["rw"]);
      expect(readdirSync(bench.at("in/ro/rw"))).toEqual(["c"]);
      expect((await bench.bash("echo x > d; echo $?", { scopes, cwd: "ro" })).stdout).toBe("1\n");
    });

    test("hides keys and tokens of a home directory that is a scope, llm-do's included", async () => {
      bench.put("home/.ssh/id_rsa", canary);
      bench.put("home/.netrc", canary);
      bench.put("home/.local/state/llm-do/credentials.json", canary);
      bench.put("home/project/file", "mine");
      bench.host = createNodeHost({ environment: { PATH: testPath }, homeDirectory: bench.at("home") });
      const scopes = await bench.open([{ root: bench.at("home") }]);
      const script =
        "cat .ssh/id_rsa .netrc .local/state/llm-do/credentials.json; ls -A .ssh; rm -rf .ssh .netrc; cat project/file";
      expect((await bench.bash(script, { scopes })).stdout).toBe("mine");
      expect(bench.read("home/.ssh/id_rsa")).toBe(canary);
      const inside = await bench.open([{ root: bench.at("home/project") }]);
      expect((await bench.bash("cat ../.ssh/id_rsa; ls -A ..", { scopes: inside })).stdout).toBe("project\n");
    });

    test("hides the secrets of a home directory below a scope", async () => {
      bench.put("home/.ssh/id_rsa", canary);
      bench.host = createNodeHost({ environment: { PATH: testPath }, homeDirectory: bench.at("home") });
      const scopes = await bench.open([
        { root: "/usr/share", mode: "ro" },
        { name: "root", root: bench.root, mode: "ro" },
      ]);
      const { stdout } = await bench.bash(`cat ${bench.at("home/.ssh/id_rsa")}; cat ${bench.at("outside/file")}`, { scopes });
      expect(stdout).toBe(canary);
    });

    test("runs nothing if a root was removed", async () => {
      mkdirSync(bench.at("in/gone"));
      const scopes = await bench.open([{}, { name: "gone", root: bench.at("in/gone") }]);
      rmdirSync(bench.at("in/gone"));
      await expect(bench.bash("echo x > file", { scopes })).rejects.toMatchObject({ name: "ScopeError", type: "changed" });
      expect(existsSync(bench.at("in/file"))).toBe(false);
    });

    test("works by path without descriptors of folders", async () => {
      bench.host = createNodeHost({ environment: { PATH: testPath }, system: { byDescriptor: false } });
      const scopes = await bench.open([{}]);
      bench.put("in/sub/.git/config", "x");
      expect(await bench.bash("pwd; echo y > .git/config", { scopes, cwd: "s/sub" })).toMatchObject({
        exitCode: 1,
        stdout: `${bench.at("in/sub")}\n`,
      });
    });

    test("prevents changes of existing protected names, and reads of some", async () => {
      const files = ["package.json", "sub/.git/hooks/pre-commit", ".vscode/settings.json", "main.worker", "tools.ts", "help.ts"];
      const secrets = [".env", ".env.local", "sub/.envrc", ".llm-do/runs/journal.jsonl"];
      for (const file of [...files, ...secrets]) bench.put(`in/${file}`, canary);
      const scopes = await bench.open([{}], { programFolder: bench.at("in"), programFiles: [bench.at("in/help.ts")] });
      for (const file of [...files, ...secrets]) {
        const script = `echo x > ${file}; echo x >> ${file}; rm -rf ${file}; mv ${file} other; chmod 777 ${file}; ln -f ${file} hard`;
        await bench.bash(`${script}; cp /etc/hosts ${file}; touch $(dirname ${file})/new; true`, { scopes });
        expect(bench.read(`in/${file}`), file).toBe(canary);
      }
      expect((await bench.bash(`cat ${files.join(" ")}`, { scopes })).stdout).toBe(canary.repeat(files.length));
      expect((await bench.bash(`cat ${secrets.join(" ")}; ls -A .llm-do`, { scopes })).stdout).toBe("");
      expect(readdirSync(bench.at("in/sub/.git/hooks"))).toEqual(["pre-commit"]);
    });

    test("moves aside what takes the place of a renamed folder above a protected name", async () => {
      bench.put("in/sub/.git/config", "good");
      const script = "mv sub gone && mkdir sub && cp -r gone/.git sub/.git && echo evil > sub/.git/config";
      expect((await bench.bash(script)).movedAside).toEqual(["s/sub/.git"]);
      expect(existsSync(bench.at("in/sub/.git"))).toBe(false);
      expect(bench.read("in/gone/.git/config")).toBe("good");
    });

    const author = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" };
    const whole = { unprotected: [".git", ".git/config", ".git/hooks"], environment: author };
    const commit = { unprotected: [".git"], environment: author };

    test("lets git work on a repository that it cannot harm", async () => {
      await bench.bash("git init -q . && git config user.name x", whole);
      bench.put("in/a.txt", "a");
      expect(await bench.bash("git status --short")).toMatchObject({ exitCode: 0, stdout: "?? a.txt\n" });
      expect((await bench.bash("git config core.pager evil; echo x > .git/hooks/pre-commit")).exitCode).not.toBe(0);
      expect(await bench.bash("git add -A && git commit -qm x && git log --oneline | wc -l", commit)).toMatchObject({
        stdout: "1\n",
      });
    });

    test("lets a command with .git commit, but not make git run programs", async () => {
      await bench.bash(
        "git init -q . && git config user.name x && mkdir -p .git/modules/a/b && git init -q --bare .git/modules/a/b",
        whole,
      );
      const steering = [".git/config", ".git/modules/a/b/config"];
      const before = steering.map((name) => bench.read(`in/${name}`));
      const hooks = readdirSync(bench.at("in/.git/hooks")).sort();
      const attempts = [
        "sh -c 'echo x > .git/hooks/pre-commit'",
        "git config core.pager evil",
        "cp /etc/hosts .git/config",
        "mv .git/config .git/other",
        "rm -r .git/hooks",
        "mv .git/hooks .git/other",
        "ln .git/config .git/hard",
        "ln -sfn ../evil .git/hooks",
        "echo '[core] fsmonitor = evil' >> .git/modules/a/b/config",
        "echo x > .git/modules/a/b/hooks/post-checkout",
      ];
      for (const script of attempts) {
        const { exitCode, movedAside } = await bench.bash(script, commit);
        expect([script, exitCode === 0, movedAside]).toEqual([script, false, []]);
      }
      expect(steering.map((name) => bench.read(`in/${name}`))).toEqual(before);
      expect(readdirSync(bench.at("in/.git/hooks")).sort()).toEqual(hooks);
      expect(readdirSync(bench.at("in/.git")).filter((name) => /lock|other|hard/.test(name))).toEqual([]);
      bench.put("in/a.txt", "a");
      const { exitCode, movedAside } = await bench.bash("git add -A && git commit -qm x && git gc -q", commit);
      expect([exitCode, movedAside]).toEqual([0, []]);
    });

    test("keeps it from adding missing parts and from pointing git elsewhere", async () => {
      await bench.bash("git init -q --template= . && git commit -q --allow-empty -m x && git worktree add -q w", whole);
      const script = `mkdir .git/hooks evil && echo x > .git/hooks/pre-commit
        echo ../evil > .git/commondir; echo x > .git/config.worktree; echo '[core]' > .git/worktrees/w/config.worktree
        mkdir -p .git/modules/n && echo x > .git/modules/n/config; mkdir sub && echo 'gitdir: ../evil' > sub/.git
        mkdir -p .git/refs/heads/x && echo x > .git/refs/heads/x/config; echo 'gitdir: ../evil' > w/.git`;
      expect((await bench.bash(script, commit)).movedAside.toSorted()).toEqual([
        "s/.git/commondir",
        "s/.git/config.worktree",
        "s/.git/hooks",
        "s/.git/modules/n/config",
        "s/.git/worktrees/w/config.worktree",
        "s/sub/.git",
      ]);
      expect(bench.read("in/w/.git")).not.toContain("evil");
      expect(bench.read("in/.git/refs/heads/x/config")).toBe("x\n");
    });

    test("lets no repository take the place of another one", async () => {
      await bench.bash("git init -q .", whole);
      const script = "mv .git old; cp -r old .git; echo '[core] pager = evil' >> .git/config";
      expect((await bench.bash(script, commit)).stderr).toContain("Device or resource busy");
      expect(existsSync(bench.at("in/old/config"))).toBe(false);
      expect(bench.read("in/.git/config")).not.toContain("evil");
    });

    test("opens approved names", async () => {
      const { exitCode, movedAside } = await bench.bash(
        "git init -q . && git config user.name x && echo x > .git/hooks/y",
        whole,
      );
      expect([exitCode, movedAside]).toEqual([0, []]);
      const configure = { unprotected: [".git", ".git/config"] };
      expect((await bench.bash("git config user.name y && ! sh -c 'echo x > .git/hooks/z'", configure)).exitCode).toBe(0);
    });

    test("opens a folder of an approved name, and no other protected name in it", async () => {
      bench.put("in/.vscode/.envrc", "old");
      const script = "echo new > .vscode/.envrc; echo {} > .vscode/tasks.json; git init -q .vscode; mkdir -p package.json/.idea";
      const opened = { unprotected: [".vscode", "package.json"] };
      expect((await bench.bash(script, opened)).movedAside).toEqual(["s/.vscode/.git", "s/package.json/.idea"]);
      expect([bench.read("in/.vscode/.envrc"), bench.read("in/.vscode/tasks.json")]).toEqual(["old", "{}\n"]);
    });
  });

  describe("the network", () => {
    const say = (port: number) => `exec 3<>/dev/tcp/127.0.0.1/${port} && echo hello >&3 && echo connected`;

    async function listen(where: number | string): Promise<{ server: Server; heard: () => number }> {
      let heard = 0;
      const server = createServer((socket) => {
        heard++;
        socket.on("error", () => undefined).resume();
      });
      servers.push(server);
      await new Promise<void>((resolve) => {
        if (typeof where === "number") server.listen(where, "127.0.0.1", resolve);
        else server.listen(where, resolve);
      });
      return { server, heard: () => heard };
    }

    test("refuses TCP to this machine without network, and allows it with network", async () => {
      const { server, heard } = await listen(0);
      const { port } = server.address() as { port: number };
      expect((await bench.bash(say(port))).stdout).toBe("");
      expect(heard()).toBe(0);
      expect((await bench.bash(say(port), { network: true })).stdout).toBe("connected\n");
      await until(() => heard() === 1);
    });

    test("UDP to this machine", async () => {
      const socket = createSocket("udp4");
      const heard: string[] = [];
      socket.on("message", (message) => heard.push(message.toString()));
      await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
      try {
        const send = (word: string) => `echo ${word} > /dev/udp/127.0.0.1/${socket.address().port}`;
        await bench.bash(send("without"));
        await bench.bash(send("with"), { network: true });
        await until(() => heard.length > 0);
        expect(heard).toEqual(["with\n"]);
      } finally {
        socket.close();
      }
    });

    test("sockets of this machine in a scope or, with the network, in no folder at all", async () => {
      const connect = (path: string) =>
        `require('net').connect(${JSON.stringify(path)}, () => console.log('connected')).on('error', (e) => console.log(e.code))`;
      const folders = ["in", "in/.git", "in/node_modules/dep"];
      for (const folder of folders) mkdirSync(bench.at(folder), { recursive: true });
      const paths = [...folders.map((folder) => bench.at(`${folder}/socket`)), `\0llm-do-test-${process.pid}`];
      const listening = await Promise.all(paths.map((path) => listen(path)));
      for (const network of [false, true]) {
        const results = paths.map(async (path, index) => {
          writeFileSync(bench.at(`in/connect-${network}-${index}.js`), connect(path));
          return (await bench.argv(["node", `connect-${network}-${index}.js`], { network })).stdout;
        });
        for (const result of await Promise.all(results)) expect(result).toMatch(/^E[A-Z]+\n$/);
      }
      expect(listening.map(({ heard }) => heard())).toEqual([0, 0, 0, 0]);
    });

    test("a command talks to its own children, and to itself by TCP", async () => {
      bench.put(
        "in/talk.js",
        `if (process.send) process.send("child");
else {
  require("child_process").fork(__filename).on("message", (text) => console.log(text));
  const server = require("net").createServer((socket) => socket.end("tcp\\n")).listen(0, "127.0.0.1", () => {
    require("net").connect(server.address().port, "127.0.0.1").on("close", () => server.close()).pipe(process.stdout, { end: false });
  });
}`,
      );
      const { stdout, exitCode } = await bench.argv(["node", "talk.js"]);
      expect([exitCode, stdout.trim().split("\n").sort()]).toEqual([0, ["child", "tcp"]]);
    });
  });

  describe("the machine", () => {
    const settings = ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory", "/proc/pressure/io", "/sys/power/state"];

    test("prevents writes to settings of the kernel by any user", async () => {
      const tries = settings.map((path) => `(: >> ${path}) && echo ${path}`).join("; ");
      const { stdout } = await bench.bash(`${tries}; find /proc/sys /sys -writable -print -quit; echo done`);
      expect(stdout).toBe("done\n");
    });

    test("refuses set-user-id and set-group-id files", async () => {
      const modeOf = (name: string) => (statSync(bench.at(`in/${name}`)).mode & 0o7777).toString(8);
      bench.put("in/a", "x");
      const create = `try { require("fs").openSync("b", "w", 0o4755) } catch (error) { console.log(error.code) }`;
      expect((await bench.argv(["node", "-e", create])).stdout).toBe("EPERM\n");
      await bench.bash(
        "chmod 755 a; chmod u+s a; chmod 6755 a; install -m 4755 a d; mkdir e; chmod 2775 e; cp -p a f; echo x > g",
      );
      expect(readdirSync(bench.at("in")).sort()).toEqual(["a", "d", "e", "f", "g"]);
      for (const name of ["a", "d", "e", "f", "g"]) expect(modeOf(name), name).toMatch(/^[0-7]{3}$/);
      expect([modeOf("a"), modeOf("f")]).toEqual(["755", "755"]);
    });
  });

  describe("processes", () => {
    test("of this machine cannot be seen, signalled or read", async () => {
      const seconds = uniqueSeconds();
      const victim = spawn("sleep", [seconds], { env: { ...process.env, VICTIM_SECRET: canary } });
      started.push(victim);
      await until(() => processesWith(seconds).length > 0);
      const pids = [victim.pid, process.pid];
      const script = pids.map((pid) => `kill -9 ${pid}; cat /proc/${pid}/environ; ls /proc/${pid}`).join("; ");
      const { stdout } = await bench.bash(`${script}; kill -9 -1; true`);
      expect(stdout).toBe("");
      expect(
        (await bench.bash("ls -d /proc/[0-9]* | wc -l; cat /proc/1/environ; tr '\\0' ' ' < /proc/1/cmdline")).stdout,
      ).not.toContain(bench.at("in"));
      expect(victim.exitCode ?? victim.signalCode).toBeNull();
    });

    test("gain no capabilities, privileges or namespaces", async () => {
      const { stdout } = await bench.bash(
        "grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; unshare -U true; echo $?; mount -t tmpfs x /tmp; echo $?",
      );
      const [capabilities, bound, noNew, seccomp, unshare, mount] = stdout.trim().split("\n");
      expect([capabilities, bound]).toEqual(["CapEff:\t0000000000000000", "CapBnd:\t0000000000000000"]);
      expect([noNew, seccomp]).toEqual(["NoNewPrivs:\t1", "Seccomp:\t2"]);
      expect([unshare, mount]).not.toContain("0");
    });

    test("can open their output by its name", async () => {
      const script = "echo a > /dev/stdout; echo b > /dev/stderr; sh -c 'echo c >> /dev/stderr; echo d > /proc/self/fd/1' | cat";
      expect(await bench.bash(script)).toMatchObject({ exitCode: 0, stdout: "a\nd\n", stderr: "b\nc\n" });
    });

    test("are bounded in number, and leave no core dump", async () => {
      const { stdout } = await bench.bash("ulimit -Hu; ulimit -Hc");
      const [processes, core] = stdout.trim().split("\n").map(Number);
      expect(processes).toBeLessThanOrEqual(4096);
      expect(core).toBe(0);
    });

    test("die by the hundreds", { timeout: 60_000 }, async () => {
      const seconds = uniqueSeconds();
      const script = `for i in $(seq 300); do setsid sleep ${seconds} & done; sleep 60`;
      expect((await bench.bash(script, { timeoutMilliseconds: 3000 })).timedOut).toBe(true);
      expect(processesWith(seconds)).toEqual([]);
    });

    test("die when llm-do is killed", { timeout: 60_000 }, async () => {
      const seconds = uniqueSeconds();
      const script = `setsid sleep ${seconds} & (setsid nohup sleep ${seconds} >/dev/null 2>&1 &); trap '' TERM HUP; sleep ${seconds}`;
      const child = startFixture(script);
      await until(() => processesWith(seconds).length === 3);
      child.kill("SIGKILL");
      await until(() => processesWith(seconds).length === 0, 5000);
    });

    test("never begin, or die, when llm-do is killed while it starts them", { timeout: 60_000 + killRuns * 3000 }, async () => {
      const seconds = uniqueSeconds();
      const random = createRandom("kills");
      for (let n = 0; n < killRuns; n++) {
        const child = startFixture(`setsid sleep ${seconds} & sleep ${seconds}`);
        // Itself, and the first thing that it starts.
        await until(() => child.exitCode !== null || processesThatMention(seconds).length > 1, 60_000, 1);
        // Every other time between the first steps of the launcher.
        await new Promise((resolve) => setTimeout(resolve, random() * (n % 2 === 0 ? 4 : 25)));
        child.kill("SIGKILL");
      }
      await until(() => processesThatMention(seconds).length === 0).catch(() =>
        expect(processesThatMention(seconds), withSeed).toEqual([]),
      );
    });

    test("never begin, or die, when their signal aborts while they start", { timeout: 120_000 }, async () => {
      const seconds = uniqueSeconds();
      const random = createRandom("aborts");
      for (let n = 0; n < 40; n++) {
        const controller = new AbortController();
        const running = bench.bash(`setsid sleep ${seconds} & sleep ${seconds}`, { signal: controller.signal });
        setTimeout(() => controller.abort(new Error("enough")), random() * 60);
        await expect(running).rejects.toThrow("enough");
        expect(processesThatMention(seconds), withSeed).toEqual([]);
      }
    });

    test("inherit no descriptor that our own parent left open", { timeout: 60_000 }, async () => {
      const folder = openSync(bench.at("outside"), "r");
      const script = "cat /proc/self/fd/[0-9]*/file; ls /proc/self/fd /proc/1/fd | sort -u | tr '\\n' ' '";
      const child = startFixture(script, [folder, folder, folder, folder, folder]);
      const result = await new Promise<{ stdout: string }>((resolve) =>
        child.once("message", (message) => resolve(message as never)),
      );
      expect(result.stdout).not.toContain(canary);
    });

    function startFixture(script: string, inherited: readonly number[] = []): ChildProcess {
      const child = fork(
        join(import.meta.dirname, "fixtures/run-command.js"),
        [JSON.stringify({ root: bench.at("in"), script, wall: true })],
        {
          execArgv: [],
          stdio: ["ignore", "ignore", "inherit", "ipc", ...inherited],
        },
      );
      started.push(child);
      return child;
    }
  });

  describe("its memory", () => {
    test("private folders are bounded and gone afterwards", async () => {
      for (const folder of ["/tmp", "/var/tmp", "/dev/shm", "~"]) {
        expect((await bench.bash(`echo x > ${folder}/left && truncate -s 1M ${folder}/large && cat ${folder}/left`)).stdout).toBe(
          "x\n",
        );
        expect((await bench.bash(`cat ${folder}/left`)).exitCode).toBe(1);
      }
      const { stdout } = await bench.bash("df --output=size -B1M /tmp /dev/shm ~ | tail -n +2");
      expect(stdout.trim().split(/\s+/)).toEqual(["1024", "1024", "1024"]);
      expect((await bench.bash("echo x > /dev/new; echo x > /new; echo x > /etc/new")).exitCode).not.toBe(0);
    });
  });

  describe("configuration of the system", () => {
    test("is what the host has, and cannot be changed", async () => {
      const shown = await bench.bash("cat /etc/passwd; cat /etc/ld.so.cache | sha256sum; cat /etc/shadow");
      const onHost = execFileSync("bash", ["-c", "cat /etc/passwd; cat /etc/ld.so.cache | sha256sum"], { encoding: "utf8" });
      expect(shown.stdout).toBe(onHost);
      const changed = await bench.bash(
        "echo x >> /etc/passwd; rm -f /etc/passwd; chmod a+w /etc/passwd; mv /etc/passwd /etc/group",
      );
      expect(changed.exitCode).not.toBe(0);
      expect((await bench.bash("cat /etc/passwd")).stdout).toBe(readFileSync("/etc/passwd", "utf8"));
    });

    test("is out of reach also where the first command makes the state folder in a scope", async () => {
      bench.host = createNodeHost({ environment: { PATH: testPath, LLM_DO_STATE_DIR: bench.at("in/state") } });
      const scopes = await bench.open([{}]);
      const seen = await bench.bash("ls -A state; cp -r state copy; touch state/private/x || cmp /etc/passwd /etc/group", {
        scopes,
      });
      expect([seen.stdout.includes("passwd"), seen.exitCode, existsSync(bench.at("in/copy/private"))]).toEqual([true, 1, false]);
      expect(existsSync(bench.at("in/state/private/settings"))).toBe(true);
    });
  });

  describe("toolchains", () => {
    test("outside the system are shown, but nothing beside them", async () => {
      bench.put("home/.nvm/versions/v1/bin/tool", "#!/bin/sh\ncat $(dirname $0)/../lib/part; cat ~/.nvm/x ../../.nvm/x\n");
      bench.put("home/.nvm/versions/v1/lib/part", "part");
      bench.put("home/.local/bin/other", "#!/bin/sh\ncat $(dirname $0)/../share/secret\necho ran\n");
      bench.put("home/.local/share/secret", canary);
      for (const file of ["home/.nvm/versions/v1/bin/tool", "home/.local/bin/other"]) {
        chmodSync(bench.at(file), 0o755);
      }
      symlinkSync(bench.at("home/.nvm/versions/v1"), bench.at("home/current"));
      const PATH = [bench.at("home/current/bin"), bench.at("home/.local/bin"), bench.at("home"), testPath].join(":");
      bench.host = createNodeHost({ environment: { PATH }, homeDirectory: bench.at("home") });
      bench.scopes = await bench.open([{}]);
      expect((await bench.argv(["tool"])).stdout).toBe("part");
      expect((await bench.argv(["other"])).stdout).toBe("ran\n");
      expect((await bench.bash("echo $PATH")).stdout).not.toContain(`${bench.at("home")}:`);
      expect((await bench.argv(["node", "-p", "1+1"])).stdout).toBe("2\n");
    });

    test("in a scope have the rights of the scope", async () => {
      bench.put("in/.venv/bin/x", "");
      bench.put("ro/real/bin/tool", "#!/bin/sh\necho ran\n");
      chmodSync(bench.at("ro/real/bin/tool"), 0o755);
      symlinkSync("real", bench.at("ro/alias"));
      const environment = { PATH: `${bench.at("ro/alias/bin")}:${testPath}`, VIRTUAL_ENV: bench.at("in/.venv") };
      bench.host = createNodeHost({ environment });
      const scopes = await bench.open([{}, { name: "ro", root: bench.at("ro"), mode: "ro" }]);
      expect(await bench.bash("tool && echo x > .venv/installed", { scopes })).toMatchObject({ exitCode: 0, stdout: "ran\n" });
    });
  });
});

describe("where there is no wall", () => {
  const bench = useCommands({ wall: false });
  test("says so, and rejects commands that require isolation", async () => {
    expect(await bench.host.commands.isolation()).toEqual({ type: "none", why: expect.any(String) });
    await expect(bench.bash("echo x > file", { isolationRequired: true })).rejects.toMatchObject({ name: "NotIsolated" });
    expect(existsSync(bench.at("in/file"))).toBe(false);
  });
});
