import { execFile, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { noWall, processesWith, uniqueSeconds } from "../../host/command-bench.ts";
import { attack, listen, World, worker } from "../world.ts";

const program = (more = "") =>
  worker(`
sandbox: { ${more} paths: { work: { root: ./work, mode: rw, write_approval: false }, notes: { root: ./notes } } }
toolsets: { shell: { rules: [], default: { approval_required: true } } }
`);

const python = "/usr/bin/python3";
const hasPython = existsSync(python);
if (!hasPython) process.stderr.write(`\n*** rows of the wall that need ${python} are not tested ***\n\n`);

/** Runs a script of the model's behind the wall, every question approved; gives what it said, both streams. */
async function behindWall(
  world: World,
  script: string,
  environment: Readonly<Record<string, string>> = {},
  more: object = {},
): Promise<string> {
  const call = { tool: "shell", args: { command: script, cwd: "work", timeout: 20, writes: ["work"], ...more } };
  const { results, error } = await attack(world, { model: [[call]], environment });
  if (error) throw error;
  return JSON.stringify(results.map(({ result }) => result));
}

/** The same without any guard, so that each row shows what it would reach. */
async function bare(world: World, script: string): Promise<string> {
  const options = { cwd: world.at("program/work"), env: { PATH: "/usr/bin:/bin" }, timeout: 20_000, maxBuffer: 1e8 };
  const { stdout } = await promisify(execFile)("/bin/bash", ["-c", `{ ${script}\n} 2>&1; true`], options);
  return stdout;
}

/**
 * Parts of this machine that the rows try to reach: a process with a folder, a secret and a name; sockets; a port; shared memory.
 */
const host = { pid: 0, socket: "", datagram: "", abstract: "", port: 0, shared: "", folder: "", seconds: uniqueSeconds() };
const closing: (() => void)[] = [];

beforeAll(async () => {
  host.folder = execFileSync("mktemp", ["-d", "/tmp/llm-do-host-XXXXXX"], { encoding: "utf8" }).trim();
  writeFileSync(join(host.folder, "file"), "REACHED");
  const sleeper = spawn("/bin/bash", ["-c", `exec 9< file; exec sleep ${host.seconds}`], {
    cwd: host.folder,
    env: { PATH: "/usr/bin:/bin", SECRET: "REACHED" },
    stdio: "ignore",
  });
  host.pid = sleeper.pid ?? 0;
  closing.push(() => sleeper.kill("SIGKILL"));
  const server = (address: string) =>
    new Promise<void>((done) => {
      const one = createServer((socket) => socket.on("error", () => undefined).end("REACHED"));
      closing.push(() => one.close());
      one.listen({ path: address }, done);
    });
  host.socket = join(host.folder, "socket");
  host.abstract = `\0llm-do-${host.seconds}`;
  await Promise.all([server(host.socket), server(host.abstract)]);
  host.shared = `/dev/shm/llm-do-${host.seconds}`;
  writeFileSync(host.shared, "REACHED");
});

afterAll(() => {
  for (const close of closing) close();
  rmSync(host.shared, { force: true });
  rmSync(host.folder, { recursive: true, force: true });
});

const py = (text: string) => `${python} -c '${text.replaceAll("'", `'"'"'`)}'`;
const syscall = (number: number, args: string) =>
  py(`import ctypes; l=ctypes.CDLL(None, use_errno=True); r=l.syscall(${number}, ${args}); print("REACHED" if r >= 0 else r)`);

interface Row {
  readonly title: string;
  /** Says REACHED where it reached what it must not. */
  readonly script: () => string;
  /** Not everywhere can the attack be shown without the wall: a kernel may lack the call. */
  readonly shown?: false;
}

const connect = (path: string) =>
  py(`import socket; s=socket.socket(socket.AF_UNIX); s.connect(${path}); print(s.recv(9).decode())`);

/** `-w` looks at rights alone; to open for appending changes nothing either. */
const opens = (path: string) => `{ exec 8>> ${path}; } && echo REACHED`;

const reaches: readonly Row[] = [
  { title: "a file beside the scopes, by its path", script: () => `cat ${host.folder}/file` },
  {
    title: "by way of a process's root",
    script: () => `cat /proc/${host.pid}/root${host.folder}/file /proc/1/root${host.folder}/file`,
  },
  { title: "by way of a process's working directory", script: () => `cat /proc/${host.pid}/cwd/file; cat /proc/*/cwd/file` },
  { title: "by way of a process's descriptors", script: () => `cat /proc/${host.pid}/fd/9` },
  { title: "a secret in a process's environment", script: () => `cat /proc/*/environ | tr '\\0' '\\n' | grep ^SECRET=` },
  {
    title: "a process, to look at",
    // The pattern does not match itself: the search is a process, too.
    script: () =>
      `cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -qx '[${host.seconds.slice(0, 1)}]${host.seconds.slice(1)}' && echo REACHED`,
  },
  { title: "a process, to signal", script: () => `kill -0 ${host.pid} && echo REACHED` },
  { title: "by a link that it makes", script: () => `ln -sfn ${host.folder} l; cat l/file` },
  { title: "by a link of links, to a folder", script: () => `ln -sfn / r; ln -sfn r${host.folder} q; cat q/file` },
  { title: "by an archive's absolute names", script: () => `tar -cPf a.tar ${host.folder}/file; tar -xOPf a.tar` },
  { title: "shared memory", script: () => `cat ${host.shared}` },
  { title: "a Unix socket by its path", script: () => connect(`"${host.socket}"`) },
  { title: "a Unix socket of no folder", script: () => connect(`b"\\0${host.abstract.slice(1)}"`) },
  { title: "a Unix socket by way of a link", script: () => `ln -sf ${host.socket} s; ${connect('"s"')}` },
  {
    title: "a Unix socket from a pair of datagrams",
    script: () => py(`import socket; a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM); print("REACHED")`),
  },
  { title: "a kernel's setting", script: () => opens("/proc/sys/vm/swappiness") },
  { title: "the pattern for cores", script: () => opens("/proc/sys/kernel/core_pattern") },
  { title: "the trigger of the kernel", script: () => opens("/proc/sysrq-trigger"), shown: false },
  { title: "devices of the machine", script: () => "test -e /dev/kmsg && echo REACHED" },
  { title: "what the kernel tells of its hardware", script: () => "test -e /sys/class/net && echo REACHED" },
  { title: "control groups", script: () => "test -e /sys/fs/cgroup/cgroup.procs && echo REACHED", shown: false },
  { title: "a device that it makes", script: () => "mknod d c 1 5 && head -c1 d | wc -c | sed s/1/REACHED/", shown: false },
  { title: "mounts of its own", script: () => "unshare -m true && echo REACHED; unshare -Ur true && echo REACHED" },
  { title: "the namespaces of the first process", script: () => `nsenter -t ${host.pid} -m -- cat ${host.folder}/file` },
  { title: "another root", script: () => "/usr/sbin/chroot / true && echo REACHED" },
  { title: "the kernel's key ring", script: () => syscall(248, `b"user", b"llm-do", b"x", 1, -3`), shown: false },
  {
    title: "a ring of calls that no filter sees",
    script: () => syscall(425, "4, ctypes.create_string_buffer(200)"),
    shown: false,
  },
  {
    title: "a socket of a hypervisor",
    script: () => py(`import socket; socket.socket(40, socket.SOCK_STREAM); print("REACHED")`),
    shown: false,
  },
  { title: "a socket for raw packets", script: () => py(`import socket; socket.socket(17, socket.SOCK_RAW); print("REACHED")`) },
  {
    title: "rights in a file's attributes",
    script: () =>
      `cp /bin/true t; ${py(`import os; os.setxattr("t", "security.capability", bytes.fromhex("0100000200010000000000000000000000000000")); print("REACHED")`)}`,
    shown: false,
  },
];

const needsPython = (row: Row) => row.script().includes(python);

describe.skipIf(noWall !== "")("a command behind the wall, every question approved, does not reach", { timeout: 30_000 }, () => {
  for (const row of reaches) {
    test.skipIf(!hasPython && needsPython(row))(row.title, async () => {
      const world = new World({ "main.worker": program(), "work/x": "", "notes/x": "" });
      if (row.shown !== false) expect(await bare(world, row.script())).toContain("REACHED");
      rmSync(world.at("program/work"), { recursive: true });
      mkdirSync(world.at("program/work"));
      const said = await behindWall(world, `${row.script()}; echo said`);
      expect(said).toContain("said");
      expect(said).not.toContain("REACHED");
    });
  }
});

/** Ways to make a file that runs with its owner's rights. The first two show that the bits are kept here at all. */
const setIds: readonly (readonly [string, string])[] = [
  ["chmod", "cp /bin/true t && chmod 4755 t"],
  ["chmod of a group, by letters", "cp /bin/true t && chmod g+s,g+x t"],
  ["install", "install -m 6755 /bin/true t"],
  ["open with a mode", py(`import os; os.umask(0); os.close(os.open("t", os.O_CREAT | os.O_WRONLY, 0o4777))`)],
  ["a folder whose files take its group", "mkdir -m 2777 t"],
  ["an archive that keeps rights", "printf 'BASE' | base64 -d | tar -xpf -"],
  ["fchmod through a descriptor", py(`import os; f = os.open("t", os.O_CREAT | os.O_WRONLY); os.fchmod(f, 0o4755)`)],
  ["fchmodat2", `touch t; ${py(`import ctypes; ctypes.CDLL(None).syscall(452, -100, b"t", 0o4755, 0)`)}`],
  [
    "openat2",
    py(`import ctypes, struct; h = struct.pack("QQQ", 0o101, 0o4755, 0); ctypes.CDLL(None).syscall(437, -100, b"t", h, 24)`),
  ],
  ["mknod of a regular file", py(`import ctypes; ctypes.CDLL(None).syscall(133, b"t", 0o104755, 0)`)],
];

function setIdsIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => (statSync(join(folder, name)).mode & 0o6000) !== 0);
}

describe.skipIf(noWall !== "")("a command leaves no file with its owner's rights by", { timeout: 30_000 }, () => {
  const archive = (world: World) => {
    const from = world.at("from");
    mkdirSync(from);
    execFileSync("install", ["-m", "4755", "/bin/true", join(from, "t")]);
    return execFileSync("bash", ["-c", "tar -cf - t | gzip -9 | gunzip | base64 -w0"], {
      cwd: from,
      encoding: "utf8",
      maxBuffer: 1e8,
    });
  };
  for (const [title, text] of setIds.filter(([, one]) => (hasPython || !one.includes(python)) && process.arch === "x64")) {
    test(title, async () => {
      const world = new World({ "main.worker": program(), "work/x": "", "notes/x": "" });
      const script = text.includes("BASE") ? `base64 -d b64 | tar -xpf -` : text;
      const ready = () => {
        rmSync(world.at("program/work"), { recursive: true, force: true });
        mkdirSync(world.at("program/work"));
        if (text.includes("BASE")) writeFileSync(world.at("program/work/b64"), encoded);
      };
      const encoded = text.includes("BASE") ? archive(world) : "";
      ready();
      await bare(world, script);
      if (!title.startsWith("fchmodat2")) expect(setIdsIn(world.at("program/work"))).not.toEqual([]);
      ready();
      await behindWall(world, `${script}; ls`);
      expect(setIdsIn(world.at("program/work"))).toEqual([]);
    });
  }
});

describe.skipIf(noWall !== "")("a command does not see what the user keeps", { timeout: 30_000 }, () => {
  const secret = "top-secret-0123";
  const home = (root: string) =>
    worker(`sandbox: { paths: { home: { root: '${root}', mode: rw, write_approval: false } } }
toolsets: { shell: { rules: [], default: { approval_required: true } } }`);

  /** In a scope that is a whole home directory. */
  test.each([
    ".ssh/id_ed25519",
    ".aws/credentials",
    ".vault-token",
    ".s3cfg",
    ".m2/settings.xml",
    ".terraform.d/credentials.tfrc.json",
    ".config/containers/auth.json",
    ".config/hub",
    ".authinfo",
    ".kaggle/kaggle.json",
    ".mysql_history",
    "keys/aws",
    "clusters/two",
  ])("~/%s", async (name) => {
    const world = new World({ "main.worker": home("~") });
    world.put(`home/${name}`, secret);
    world.put("home/notes.txt", "mine");
    const environment = {
      AWS_SHARED_CREDENTIALS_FILE: world.at("home/keys/aws"),
      KUBECONFIG: [world.at("home/clusters/one"), world.at("home/clusters/two")].join(":"),
    };
    const command = `cat ${name}; cat */* .*/* .*/*/*; find . -type f -exec cat {} +; cp -r . /tmp/copy; cat /tmp/copy/${name}; true`;
    const { results } = await attack(world, { model: [[{ tool: "shell", args: { command } }]], environment });
    const said = JSON.stringify(results);
    expect(said).toContain("mine");
    expect(said).not.toContain(secret);
  });

  test("a secret behind a link in the home directory", async () => {
    const world = new World({ "main.worker": home("~") });
    world.put("home/dotfiles/aws/credentials", secret);
    symlinkSync("dotfiles/aws", world.at("home/.aws"));
    const command = "cat .aws/credentials dotfiles/aws/credentials; find . -type f -exec cat {} +; echo said";
    const { results } = await attack(world, { model: [[{ tool: "shell", args: { command } }]] });
    expect(JSON.stringify(results)).toContain("said");
    expect(JSON.stringify(results)).not.toContain(secret);
  });

  test.each([
    [".env", `S=${secret}`],
    [".git/config", secret],
    ["src/main.py", secret],
  ])("`%s` of a project whose bin is on the PATH", async (name, text) => {
    const world = new World({ "main.worker": program(), "work/x": "", "notes/x": "" });
    world.put(`code/project/${name}`, text);
    world.put("code/project/package.json", "{}");
    world.put("code/project/bin/tool", "#!/bin/sh\necho tool runs\n");
    execFileSync("chmod", ["+x", world.at("code/project/bin/tool")]);
    const environment = { PATH: `${world.at("code/project/bin")}:${process.env["PATH"]}` };
    const said = await behindWall(world, `tool; cat ${world.at(`code/project/${name}`)}`, environment);
    // Programs on the PATH run all the same.
    expect(said).toContain("tool runs");
    expect(said).not.toContain(secret);
  });

  test("a toolchain is shown with what its programs need", async () => {
    const world = new World({ "main.worker": program(), "work/x": "", "notes/x": "" });
    world.put("toolchain/lib/text", "from the library");
    world.put("toolchain/bin/tool", '#!/bin/sh\ncat "$(dirname "$0")/../lib/text"\n');
    execFileSync("chmod", ["+x", world.at("toolchain/bin/tool")]);
    const environment = { PATH: `${world.at("toolchain/bin")}:${process.env["PATH"]}` };
    expect(await behindWall(world, "tool", environment)).toContain("from the library");
  });
});

describe.skipIf(noWall !== "")("a command behind the wall leaves nothing of", { timeout: 30_000 }, () => {
  test.each([
    ["a process in a session of its own", (n: string) => `setsid sleep ${n} & disown; true`],
    ["a process whose parent has gone", (n: string) => `( ( sleep ${n} & ) & ); true`],
    ["a process that ignores signals", (n: string) => `(trap '' TERM HUP INT; sleep ${n}) & true`],
    ["a process that cleaned its environment", (n: string) => `env -i /bin/sh -c 'setsid sleep ${n} &' ; true`],
  ])("%s", async (_, script) => {
    const world = new World({ "main.worker": program(), "work/x": "", "notes/x": "" });
    const seconds = uniqueSeconds();
    await behindWall(world, script(seconds));
    expect(processesWith(seconds)).toEqual([]);
  });

  test.each([
    ["a folder renamed to a repository", "mkdir -p y/hooks; echo evil > y/hooks/post-checkout; mv y ${D}git", ".git"],
    ["a repository that is a file", "echo 'gitdir: ../elsewhere' > a && mv a ${D}git", ".git"],
    ["a name in capitals", "mkdir ${D}GIT && echo evil > ${D}GIT/config", ".GIT"],
    [
      "a folder of an editor, moved with its parent",
      "mkdir -p a/${D}vscode && echo '{}' > a/${D}vscode/tasks.json && mv a b",
      "b/.vscode",
    ],
    ["a worker, by a link", "echo x > t; ln -s t evil${D}worker", "evil.worker"],
    ["a package, by a hard link", "echo '{}' > t; ln t package${D}json", "package.json"],
    ["an environment from a program that was told to end", "trap 'echo x > ${D}envrc' EXIT; kill -TERM $$", ".envrc"],
    ["hooks, in a folder that it locks", "mkdir -p d/${D}git/hooks; echo x > d/${D}git/hooks/x; chmod 0 d", "d/.git"],
  ])("%s", async (_, text, name) => {
    const script = `D=.; ${text}`;
    const world = new World({ "main.worker": program(), "work/x": "", "notes/x": "" });
    await bare(world, script).catch(() => "");
    execFileSync("chmod", ["-R", "u+rwx", world.at("program/work")]);
    expect(existsSync(world.at(`program/work/${name}`))).toBe(true);
    rmSync(world.at("program/work"), { recursive: true });
    mkdirSync(world.at("program/work"));
    await behindWall(world, script);
    expect(existsSync(world.at(`program/work/${name}`))).toBe(false);
    expect(readdirSync(world.at("program/work"), { recursive: true }).join()).toMatch(/moved-aside/);
  });
});

describe.skipIf(noWall !== "")("a command behind the wall may", { timeout: 30_000 }, () => {
  test.each([
    ["write and read in its scope", "echo mine > a; mkdir -p d; mv a d/b; cat d/b", "mine"],
    ["read a scope that is not writable, and not write there", "cat ../notes/x; echo no > ../notes/y || echo mine", "mine"],
    ["use temporary files", 't=$(mktemp); echo mine > "$t"; cat "$t" /dev/null', "mine"],
    ["start, signal and wait for its own", "sleep 100 & kill %1; wait; echo mine", "mine"],
    ["pipe", "seq 5 | sort -r | head -1 | sed s/5/mine/", "mine"],
    ["run a script with an executable bit", "printf '#!/bin/sh\\necho mine\\n' > s; chmod 755 s; ./s", "mine"],
    ["extract an archive", "mkdir p; echo mine > p/f; tar -cf a.tar p; rm -r p; tar -xpf a.tar; cat p/f", "mine"],
  ])("%s", async (_, script, wanted) => {
    const world = new World({ "main.worker": program(), "work/x": "", "notes/x": "" });
    expect(await behindWall(world, script)).toContain(wanted);
  });

  test.skipIf(!hasPython)("reach a listener of this machine only with the network", async () => {
    const { port, heard } = await listen();
    const script = py(`import urllib.request; print(urllib.request.urlopen("http://127.0.0.1:${port}/").read())`);
    for (const [more, times] of [[{}, 0] as const, [{ network: true }, 1] as const]) {
      const world = new World({ "main.worker": program("network_enabled: true,"), "work/x": "", "notes/x": "" });
      await behindWall(world, script, {}, more);
      expect(heard()).toBe(times);
    }
  });
});
