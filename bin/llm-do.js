#!/usr/bin/env node
// Plain old JavaScript: this file must run on any Node, to say what is needed, before anything newer is read.
// Nothing is imported where the Node is new enough: an import of a built-in module runs its getters.

const needed = [22, 18];

function isNewEnough(version) {
  const parts = version.split(".").map(Number);
  return parts[0] > needed[0] || (parts[0] === needed[0] && parts[1] >= needed[1]);
}

/** A newer Node from the npm package `node`, installed beside this one. */
async function findNode() {
  try {
    const [{ existsSync }, { createRequire }, { dirname, join }] = await Promise.all([
      import("node:fs"),
      import("node:module"),
      import("node:path"),
    ]);
    const require = createRequire(import.meta.url);
    const manifest = require.resolve("node/package.json");
    const path = join(dirname(manifest), "bin", process.platform === "win32" ? "node.exe" : "node");
    return isNewEnough(require(manifest).version) && existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Stands between the caller and the newer Node: passes on signals, and ends as that one ends. */
async function runWith(node) {
  const [{ spawn }, { constants }] = await Promise.all([import("node:child_process"), import("node:os")]);
  const child = spawn(node, process.execArgv.concat(process.argv.slice(1)), { stdio: "inherit" });
  // A terminal sends Ctrl-C to both, `kill` to this one alone: src/cli/process/signals.ts takes two at once for one.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("error", refuse);
  child.on("exit", (code, signal) => process.exit(code === null ? 128 + constants.signals[signal] : code));
}

function refuse() {
  const words = process.argv.slice(2).map((word) => (/^[\w./:@=-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`));
  process.stderr.write(
    `llm-do needs Node ${needed.join(".")} or newer, and this is ${process.versions.node}. Run: ${["npx -p node@24 -p llm-do llm-do"].concat(words).join(" ")}\n`,
  );
  process.exit(2);
}

const { bun, deno } = process.versions;
if (bun || deno) {
  process.stderr.write(
    `llm-do runs on Node ${needed.join(".")} or newer, and this is ${bun ? "Bun" : "Deno"}. Run: npx llm-do\n`,
  );
  process.exitCode = 2;
} else if (isNewEnough(process.versions.node)) {
  import("../dist/cli/main.js").then((cli) => cli.main(process.argv.slice(2)));
} else {
  findNode().then((node) => (node ? runWith(node) : refuse()));
}
