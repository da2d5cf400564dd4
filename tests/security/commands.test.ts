import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { noWall } from "../host/command-bench.ts";
import { attack, canary, listen, outcome, untouched, World, worker } from "./world.ts";

/** Rules that let everything run: what is left is the wall. */
const open = worker(`
sandbox: { paths: { work: { root: ./work, mode: rw, write_approval: false }, notes: { root: ./notes } } }
toolsets:
  filesystem: {}
  shell: { rules: [], default: { approval_required: true } }
`);

const shell = (command: string, cwd?: string) => ({
  tool: "shell",
  args: { command, writes: ["work"], ...(cwd === undefined ? {} : { cwd }) },
});

function create(): World {
  return new World({ "main.worker": open, "work/file": "mine", "notes/file": "mine" });
}

describe.skipIf(noWall !== "")("a command behind the wall, every question approved", () => {
  test("cannot make file tools follow links that it plants", { timeout: 60_000 }, async () => {
    const world = create();
    const script = [
      `ln -s ${world.at("outside")} folder`,
      `ln -s ${world.at("outside/file")} file-link`,
      "ln -s ../../outside up",
      "ln -s ../main.worker worker-link",
      `ln ${world.at("outside/file")} hard`,
      "mkdir -p later && ln -sfn ../../../outside later/x",
    ].join("; ");
    const paths = [
      "work/folder/file",
      "work/file-link",
      "work/up/file",
      "work/later/x/file",
      "work/folder/new",
      "work/worker-link",
    ];
    const follow = paths.flatMap((path) => [
      { tool: "read_file", args: { path } },
      { tool: "write_file", args: { path, content: "evil" } },
      { tool: "append_file", args: { path, content: "evil" } },
      { tool: "search_files", args: { path, regex: "." } },
    ]);
    const { results } = await attack(world, {
      model: [[shell(`${script}; true`)], follow, [{ tool: "search_files", args: { path: "work", regex: "canary" } }]],
    });
    expect(results.map(outcome)).toEqual(["ok", ...follow.map(() => "path_outside_scope"), "ok"]);
    expect(JSON.stringify(results)).not.toContain(canary);
    expect(world.outside()).toEqual(untouched);
    expect(world.read("program/main.worker")).toBe(open);
  });

  test("cannot leave protected names behind", { timeout: 60_000 }, async () => {
    const world = create();
    const script = `mkdir -p .git/hooks .llm-do .vscode deep && echo evil | tee .git/hooks/post-checkout .git/config .llm-do/x .vscode/tasks.json
      echo evil | tee .env .env.local deep/.envrc new.worker deep/x.worker package.json deep/.bashrc > /dev/null`;
    await attack(world, { model: [[shell(script)]] });
    const left = world.files("program/work");
    expect(left).not.toEqual([]);
    for (const name of left.filter((one) => world.read(`program/work/${one}`) !== "mine")) expect(name).toMatch(/moved-aside/);
    for (const name of [
      ".git",
      ".llm-do",
      ".vscode",
      ".env",
      ".env.local",
      "new.worker",
      "package.json",
      "deep/x.worker",
      "deep/.bashrc",
    ])
      expect(existsSync(world.at(`program/work/${name}`)), name).toBe(false);
  });

  test("cannot read hidden files by copies or links of their folders", { timeout: 60_000 }, async () => {
    const world = create();
    world.put("program/work/.env", `KEY=${canary}`);
    world.put("program/work/.llm-do/runs/x", canary);
    const script = `cp file proof; e=.en; g=.llm; cp \${e}v a; ln \${e}v b; ln -s \${e}v c; cat \${e}v > d; cp -r \${g}-do e; cp -r . copy; tar -cf f .
      find . -type f -exec cat {} + > g; cat .[e]* .l*/*/* > h; exec 3< \${e}v; cat <&3 > i; cat a b c d e/runs/x f g h i; true`;
    const names = ["a", "b", "c", "d", "e/runs/x", "copy/file", "f", "g", "h", "i"];
    const read = names.map((name) => ({ tool: "read_file", args: { path: `work/${name}` } }));
    const { results } = await attack(world, { model: [[shell(script)], read] });
    expect(results).toHaveLength(names.length + 1);
    expect(results[0] && outcome(results[0])).toBe("ok");
    expect(JSON.stringify(results)).not.toContain(canary);
    // Readable files were copied: the command did run. A copy of a folder into itself stops at its own name, in any order.
    expect(world.read("program/work/proof")).toBe("mine");
    expect([world.read("program/work/.env"), world.read("program/work/.llm-do/runs/x")]).toEqual([`KEY=${canary}`, canary]);
  });

  test("writes only to folders that are writable, whatever folder it starts in", { timeout: 60_000 }, async () => {
    const world = create();
    const evil = "echo evil > evil.txt; echo evil > ../evil.txt; pwd";
    const inside = ["notes", "work", "notes/."].map((cwd) => shell(evil, cwd));
    const outside = ["..", "../outside", world.at("outside"), "/", "/tmp", "~", "work/../../outside", "work/..", "main.worker"];
    const { results } = await attack(world, {
      model: [...inside, ...outside.map((cwd) => shell(evil, cwd))].map((call) => [call]),
    });
    expect(results.slice(0, 3).map(outcome)).toEqual(["ok", "ok", "ok"]);
    expect(results.slice(3).map(outcome)).not.toContain("ok");
    expect(world.files("program")).toEqual(["main.worker", "notes/file", "work/evil.txt", "work/file"]);
    expect(world.outside()).toEqual(untouched);
    expect(existsSync("/evil.txt") || existsSync("/tmp/evil.txt")).toBe(false);
  });

  test("reaches no listener of this machine, and resolves no name", { timeout: 120_000 }, async () => {
    const world = create();
    const { port, heard } = await listen();
    const tries = [
      `exec 3<>/dev/tcp/127.0.0.1/${port} && cat <&3`,
      `exec 3<>/dev/tcp/localhost/${port} && cat <&3`,
      `node -e "require('net').connect(${port}, '127.0.0.1').on('error', () => {})"`,
      `node -e "fetch('http://127.0.0.1:${port}/').then((r) => r.text()).then(console.log, () => {})"`,
      `node -e "require('net').connect(${port}, '::ffff:127.0.0.1').on('error', () => {})"`,
      `python3 -c "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:${port}').read())"`,
      `curl -sS http://127.0.0.1:${port}/ http://0x7f000001:${port}/ http://0:${port}/ --max-time 2`,
      `unshare -n true; nsenter -t 1 -n curl -s http://127.0.0.1:${port}/`,
    ];
    const { results } = await attack(world, { model: tries.map((command) => [shell(command)]) });
    expect(results).toHaveLength(tries.length);
    expect(
      JSON.stringify(results.map(({ result }) => (result.ok ? (result.value as { stdout: string }).stdout : ""))),
    ).not.toContain("canary");
    expect(heard()).toBe(0);
    const names = await attack(world, {
      model: [[shell("getent hosts example.com localtest.me; cat /etc/resolv.conf | head -0; echo $?")]],
    });
    expect(names.results[0]?.result).toMatchObject({
      ok: true,
      value: { stdout: expect.not.stringMatching(/\d+\.\d+\.\d+\.\d+/) },
    });
    // The listener would have heard.
    await fetch(`http://127.0.0.1:${port}/`);
    expect(heard()).toBe(1);
  });

  test("gets no secret of the environment, by name, from a process or through an answer", {
    timeout: 60_000,
  }, async () => {
    const world = create();
    const secret = "sk-live-0123456789abcdef";
    const environment = {
      ANTHROPIC_API_KEY: secret,
      GITHUB_TOKEN: secret,
      DATABASE_URL: `postgres://u:${secret}@h/d`,
      SSH_AUTH_SOCK: "/tmp/agent",
    };
    const script = "env; printenv ANTHROPIC_API_KEY; set; cat /proc/*/environ | tr '\\0' '\\n'; compgen -e; declare -px; true";
    const { results, scripted } = await attack(world, { model: [[shell(script)], [shell(`bash -c "${script}"`)]], environment });
    expect(results.map(outcome)).toEqual(["ok", "ok"]);
    const told = JSON.stringify([results, scripted.requests]);
    expect(told).toContain("PATH=");
    expect(told).not.toContain(secret);
    expect(told).not.toMatch(/ANTHROPIC_API_KEY=|GITHUB_TOKEN=|DATABASE_URL=|SSH_AUTH_SOCK=/);
  });

  test("runs programs that a repository's configuration names only where they can do no harm", { timeout: 60_000 }, async () => {
    const world = create();
    const git = (...args: string[]) => execFileSync("git", args, { cwd: world.at("program/work"), stdio: "ignore" });
    git("init", "-q");
    for (const key of ["core.fsmonitor", "core.pager", "diff.external", "core.sshCommand", "core.editor", "credential.helper"])
      git("config", key, `sh -c 'echo evil > ${world.at("outside/evil")}; echo evil > ${world.at("program/evil")}'`);
    const commands = [
      "git status",
      "git diff",
      "git log",
      "git add file; git status --short",
      "git -p status",
      "git fetch origin",
    ];
    await attack(world, { model: commands.map((command) => [shell(command)]) });
    expect(world.outside()).toEqual(untouched);
    expect(existsSync(world.at("program/evil"))).toBe(false);
  });
});
