// One case with one library in a process of its own: `node alone.js ARM CASE URL`. Prints the largest memory that the process had, in MB.
import { readFileSync } from "node:fs";
import { type Arm, check, parseCase } from "./arm.ts";

const [name, named = "", baseUrl = ""] = process.argv.slice(2);
const { arm }: { arm: Arm } = await import(`./arms/${name}.ts`);
const one = parseCase(named);
check(one, await (await arm.prepare(baseUrl))(one));
process.stdout.write(`${mostMemory() / 1024}\n`, () => process.exit());

/** In kB. Linux counts in `maxRSS` what the parent had when it started this process; its own status does not. */
function mostMemory(): number {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))?.[1]);
}
