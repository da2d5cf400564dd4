#!/usr/bin/env node
// Plain old JavaScript: this file must run on any Node, to say what is needed, before anything newer is read.

import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const needed = [22, 18];

function isNewEnough(version) {
  const parts = version.split(".").map(Number);
  return parts[0] > needed[0] || (parts[0] === needed[0] && parts[1] >= needed[1]);
}

/** A newer Node from the npm package `node`, installed beside this one. */
function findNode() {
  try {
    const require = createRequire(import.meta.url);
    const manifest = require.resolve("node/package.json");
    if (!isNewEnough(require(manifest).version)) return undefined;
    return join(dirname(manifest), "bin", process.platform === "win32" ? "node.exe" : "node");
  } catch {
    return undefined;
  }
}

function runWith(node) {
  const child = spawn(node, process.execArgv.concat(process.argv.slice(1)), { stdio: "inherit" });
  const forward = (signal) => {
    child.kill(signal);
  };
  // A terminal sends Ctrl-C to both; what is sent to this process alone has to be passed on.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", forward);
  process.on("SIGHUP", forward);
  child.on("error", refuse);
  child.on("exit", (code, signal) => {
    process.exit(code === null ? 128 + (signal === "SIGKILL" ? 9 : 15) : code);
  });
}

function refuse() {
  process.stderr.write(
    "llm-do needs Node " +
      needed.join(".") +
      " or newer, and this is " +
      process.versions.node +
      ". Run: npx -p node@24 -p llm-do llm-do " +
      process.argv.slice(2).join(" ") +
      "\n",
  );
  process.exit(2);
}

if (isNewEnough(process.versions.node)) {
  import("../dist/cli/main.js").then((cli) => cli.main(process.argv.slice(2)));
} else {
  const node = findNode();
  if (node) runWith(node);
  else refuse();
}
