// Adds to package-lock.json the optional platform packages that npm leaves out when it cannot see them
// (npm/cli#4828): without their entries `npm ci` refuses the lockfile, and other platforms install nothing.
// An entry made here has a version, an os and a cpu, and no integrity; npm fetches it only where it fits.
// Run it after every `npm install` that changes the lockfile.
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));
const oses = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32", "aix"];
const cpus = ["arm64", "x64", "ia32", "arm", "ppc64", "riscv64", "s390x", "loong64", "mips64el", "wasm32"];
let added = 0;

function platformOf(name) {
  const words = name.split("/").at(-1).split("-");
  const os = oses.find((word) => words.includes(word));
  const cpu = cpus.find((word) => words.includes(word));
  return { ...(os ? { os: [os] } : {}), ...(cpu ? { cpu: [cpu] } : {}), ...libcOf(name) };
}

function libcOf(name) {
  return /-musl[a-z]*$/.test(name) ? { libc: ["musl"] } : {};
}

for (const entry of Object.values({ ...lock.packages })) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    const key = `node_modules/${name}`;
    const known = lock.packages[key];
    // npm leaves out the C library of some, and then installs those of every library.
    if (known && !known.libc) Object.assign(known, libcOf(name));
    if (known || !/^\d/.test(range)) continue;
    lock.packages[key] = {
      version: range,
      ...platformOf(name),
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
    };
    added++;
  }
}
const [root, ...rest] = Object.entries(lock.packages);
lock.packages = Object.fromEntries([root, ...rest.sort(([a], [b]) => (a < b ? -1 : 1))]);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`complete-lockfile: ${added} entries added\n`);
