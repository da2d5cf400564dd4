#!/usr/bin/env node
// npm create llm-do FOLDER [-- FLAGS]: installs llm-do into a new folder, and runs `llm-do init` there with the flags.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));
const needed = [22, 18];
const usage = `npm create llm-do FOLDER [-- --template NAME] [-- --name NAME] [-- --model PROVIDER:NAME]

Installs llm-do into a new or empty folder, and makes a program there that runs at once.
The templates are those of \`llm-do init --help\`: notes, words, letters, review, triage, invoice.
`;

function main([folder, ...flags]) {
  if (folder === undefined || folder.startsWith("-")) {
    process.stdout.write(usage);
    return folder === "--help" || folder === "-h" ? 0 : 2;
  }
  const isNew = !existsSync(folder);
  if (!isNew && readdirSync(folder).length > 0) {
    fail(`${folder} is not empty. In a project that you have, run: npm install llm-do && npx llm-do init PROGRAM`);
    return 2;
  }
  mkdirSync(folder, { recursive: true });
  const code = install(folder) || init(folder, flags);
  if (code === 0) {
    if (resolve(folder) !== process.cwd()) process.stdout.write(`\nFirst: cd ${folder}\n`);
    return 0;
  }
  // The folder was empty: nothing in it is the user's.
  for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true, force: true });
  if (isNew) rmSync(folder, { recursive: true });
  fail(`nothing was made in ${folder}`);
  return code;
}

/** Installs with the package manager that started this command. */
function install(folder) {
  const name =
    basename(resolve(folder))
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, "-")
      .replace(/^-+|-+$/g, "") || "program";
  const node = isNewEnough(process.versions.node) ? [] : ["node@24"];
  // The npm package of Node fetches its file when it is installed.
  const manifest = { name, private: true, type: "module", ...(node.length > 0 && { allowScripts: { node: true } }) };
  writeFileSync(join(folder, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(folder, ".gitignore"), "node_modules/\n");
  const [agent = ""] = (process.env.npm_config_user_agent ?? "").split("/");
  const manager = ["pnpm", "yarn", "bun"].includes(agent) ? agent : "npm";
  const add = manager === "npm" ? ["install", "--no-audit", "--no-fund", "--loglevel=error"] : ["add"];
  return run(manager, [...add, `llm-do@^${version}`, ...node], folder);
}

function init(folder, flags) {
  return run(process.execPath, [join("node_modules", "llm-do", "bin", "llm-do.js"), "init", ".", ...flags], folder);
}

function isNewEnough(node) {
  const [major, minor] = node.split(".").map(Number);
  return major > needed[0] || (major === needed[0] && minor >= needed[1]);
}

function run(command, args, cwd) {
  // npm tells its children of the folder that it was started in; what they run belongs to the new one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(?:config_local_prefix|package_)/.test(name)),
  );
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: "inherit", shell: process.platform === "win32" });
  if (error) fail(`${command} did not start: ${error.message}`);
  return status ?? 1;
}

function fail(message) {
  process.stderr.write(`create-llm-do: ${message}\n`);
}

process.exitCode = main(process.argv.slice(2));
