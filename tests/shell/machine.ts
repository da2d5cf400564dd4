import { spawn } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";

export interface Ran {
  readonly stdout: Buffer;
  readonly code: number | null;
}

/** A throw-away folder on the real disk. */
export class Machine {
  readonly root = mkdtempSync(join(tmpdir(), "llm-do-shell-"));

  put(path: string, content: string, mode = 0o644): string {
    const full = join(this.root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, content);
    chmodSync(full, mode);
    return full;
  }

  /** Every file below a folder, with its size and content's beginning. */
  snapshot(folder = "."): Readonly<Record<string, string>> {
    const found: Record<string, string> = {};
    const visit = (path: string) => {
      for (const name of readdirSync(path)) {
        const full = join(path, name);
        const facts = lstatSync(full);
        found[relative(this.root, full)] = facts.isFile()
          ? `${facts.mode} ${readFileSync(full).toString("latin1")}`
          : String(facts.mode);
        if (facts.isDirectory()) visit(full);
      }
    };
    visit(join(this.root, folder));
    return found;
  }

  /** Runs to the end, three seconds at most, with its process group. */
  run(argv: readonly string[], { cwd = ".", environment }: { cwd?: string; environment: Record<string, string> }): Promise<Ran> {
    const [program = "", ...args] = argv;
    const child = spawn(program, args, {
      cwd: join(this.root, cwd),
      env: environment,
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    };
    const timer = setTimeout(kill, 3000);
    return new Promise((resolve) => {
      const end = (code: number | null) => {
        clearTimeout(timer);
        kill();
        resolve({ stdout: Buffer.concat(chunks), code });
      };
      child.on("error", () => end(127));
      child.on("close", end);
    });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

export const bash = ["bash", "--noprofile", "--norc", "-c"] as const;
