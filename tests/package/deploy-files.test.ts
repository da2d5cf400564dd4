import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { validate } from "dockerfile-utils";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";

const page = readFileSync(join(import.meta.dirname, "../../docs/deploy.md"), "utf8");

/** The block of the page that holds a text. */
function blockWith(language: string, text: string): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))];
  return blocks.map(([, block = ""]) => block).find((block) => block.includes(text)) ?? "";
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes?: readonly string[];
  readonly depends_on?: readonly string[];
}

const composeFile = blockWith("yaml", "services:");
const compose = parse(composeFile) as Compose;
const unit = blockWith("ini", "[Service]");
const words = (/^ExecStart=(.*)$/m.exec(unit)?.[1] ?? "").split(" ");

test("the image of an executor is a valid Dockerfile, and starts the command", () => {
  const dockerfile = blockWith("dockerfile", "FROM");
  expect(validate(dockerfile)).toEqual([]);
  expect(dockerfile).toContain('ENTRYPOINT ["llm-do"]');
  expect(dockerfile).toContain("pg@8 pg-boss@12");
});

test("the file of Compose names what it has, and keeps the records in a volume", () => {
  const { database, executor } = compose.services;
  expect(Object.keys(compose.services)).toEqual(["database", "executor"]);
  expect(executor?.depends_on).toEqual(["database"]);
  expect(database?.volumes?.map((volume) => volume.split(":")[0])).toEqual(Object.keys(compose.volumes));
  expect(addressOf(executor?.environment["LLM_DO_STORE"] ?? "")).toEqual({
    user: database?.environment["POSTGRES_USER"],
    host: "database",
    path: `/${database?.environment["POSTGRES_DB"]}`,
  });
  expect(executor?.command).toEqual(words.slice(1));
});

test("the file of Compose is of the specification's schema", async () => {
  const folder = await mkdtemp(join(tmpdir(), "llm-do-compose-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "compose.yaml");
  const lint = async (text: string) => {
    await writeFile(file, text);
    const { status, stdout } = spawnSync("npx", ["dclint", "--quiet", file], { encoding: "utf8" });
    return `${status}${stdout.trim()}`;
  };
  expect(await lint(composeFile)).toBe("0");
  expect(await lint(composeFile.replace("depends_on", "depend_on"))).toContain("must NOT have additional properties");
});

function addressOf(text: string) {
  const url = new URL(text.replace(/\$\{\w+\}/g, "password"));
  return { user: url.username, host: url.hostname, path: url.pathname };
}

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;

test.skipIf(!hasSystemd)("the unit passes systemd-analyze (skipped without systemd)", async () => {
  const folder = await mkdtemp(join(tmpdir(), "llm-do-unit-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "llm-do-executor.service");
  // The command is not installed here.
  await writeFile(file, unit.replace("/usr/bin/llm-do", process.execPath));
  const verify = () => execFileSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8", stdio: "pipe" });
  expect(verify()).toBe("");
  await writeFile(file, unit.replace("/usr/bin/llm-do", process.execPath).replace("KillMode=mixed", "KilMode=mixed"));
  expect(spawnSync("systemd-analyze", ["verify", "--man=no", file], { encoding: "utf8" }).stderr).toContain("KilMode");
});
