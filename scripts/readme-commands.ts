// Runs the README's first command for a clone as its rendered page has it, in fresh clones with an empty home, on Node 20, 22 and 24 at the same
// time. The second command is `npm ci && npm test`, which CI runs as its own steps; this script compares its text.
import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { marked } from "marked";

const root = join(import.meta.dirname, "..");
const folder = mkdtempSync(join(tmpdir(), "llm-do-readme-"));
const cache = run("npm", ["config", "get", "cache"]).stdout.trim();

/** npm's settings of this process name this repository; how the registry is reached stays. */
const dropped = /^npm_(?!config_(?:registry|cafile|userconfig|globalconfig)$)|^LLM_DO_|^NODE_(?:OPTIONS|PATH)$/i;
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !dropped.test(name)));
const path = (process.env["PATH"] ?? "").split(delimiter).filter((part) => !part.includes("node_modules"));

const entities: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };

/** The text of each block of shell commands of a page, as a browser shows it. */
function commandsOf(markdown: string): readonly string[] {
  const html = marked.parse(markdown, { async: false });
  const blocks = html.matchAll(/<pre><code class="language-sh[^"]*">([\s\S]*?)<\/code><\/pre>/g);
  return [...blocks].map(([, code = ""]) =>
    code.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => entities[entity] ?? entity).trim(),
  );
}

function run(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
) {
  return spawnSync(command, args, { encoding: "utf8", input: "", ...options });
}

/** A folder with the newest Node of a major version, from npm. */
function findNode(major: number): string {
  const name = `node-${process.platform}-${process.arch}@${major}`;
  const packed = run("npm", ["pack", "--silent", name], { cwd: folder });
  const place = join(folder, String(major));
  mkdirSync(place);
  run("tar", ["-xzf", join(folder, packed.stdout.trim()), "-C", place, "--strip-components=2", "package/bin/node"]);
  return place;
}

async function tryCommand(command: string, major: number): Promise<boolean> {
  const start = Date.now();
  const node = findNode(major);
  const clone = join(folder, `clone-${major}`);
  const home = join(folder, `home-${major}`);
  mkdirSync(home);
  run("git", ["clone", "--quiet", root, clone]);
  const PATH = [node, ...path].join(delimiter);
  const env = { ...environment, HOME: home, PATH, npm_config_cache: cache, npm_config_prefer_offline: "true" };
  const version = run("node", ["--version"], { env: { PATH } }).stdout.trim();
  const { status, stdout, stderr } = await runShell(command, { cwd: clone, env });
  const isRight = status === 0 && version.startsWith(`v${major}.`) && /^5 actions\./m.test(stdout);
  console.log(`node ${version}: exit ${status}, ${Math.round((Date.now() - start) / 1000)} s`);
  if (!isRight) console.log(`${stdout}\n${stderr}`);
  return isRight;
}

function runShell(command: string, options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }) {
  type Ended = { readonly status: number; readonly stdout: string; readonly stderr: string };
  return new Promise<Ended>((resolve) => {
    const { stdin } = execFile("bash", ["-c", command], { ...options, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ status: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
    );
    stdin?.end();
  });
}

const ofClone = commandsOf(readFileSync(join(root, "README.md"), "utf8")).filter((block) => block.startsWith("npm ci"));
const [first = "", second = ""] = ofClone;
console.log(first);
let failed = second !== "npm ci && npm test" || first.includes("\n");
if (failed) console.log(`the README has other commands for a clone: ${second}`);
const majors = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [20, 22, 24];
const tried = await Promise.all(majors.map((major) => tryCommand(first, major)));
if (tried.includes(false)) failed = true;
rmSync(folder, { recursive: true, force: true });
process.exitCode = failed ? 1 : 0;
