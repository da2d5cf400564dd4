import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { version } from "../../src/version.ts";
import { createEnvironment, isSkipped, npm, root, systemPath } from "./npm.ts";

/* `npm create llm-do`, from a registry that has the two packages as they are packed, and sends on to npm's for all others. */

const folder = mkdtempSync(join(tmpdir(), "llm-do-create-"));
const environment = createEnvironment(folder);
let server: Server;

beforeAll(async () => {
  if (isSkipped) return;
  if (!existsSync(join(root, "dist/index.js"))) throw new Error("there is no dist/: run `npm run build` first");
  const upstream = npm(["config", "get", "registry"], { cwd: folder, env: environment }).stdout.trim();
  const packages = new Map(["", "create"].map(pack).map((packed) => [packed.name, packed]));
  server = createServer((request, response) => {
    const [, name = ""] = (request.url ?? "").split("/");
    const packed = packages.get(name);
    if (packed === undefined) response.writeHead(302, { location: new URL(`.${request.url}`, upstream).href }).end();
    else if (request.url?.endsWith(".tgz")) response.end(readFileSync(packed.file));
    else response.end(JSON.stringify(describePackage(packed, `http://${request.headers.host}`)));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  // What is downloaded is shared with other installs; what `npm create` keeps installed is not.
  const cache = npm(["config", "get", "cache"], { cwd: folder, env: environment }).stdout.trim();
  mkdirSync(join(cache, "_cacache"), { recursive: true });
  mkdirSync(join(folder, "cache"));
  symlinkSync(join(cache, "_cacache"), join(folder, "cache/_cacache"));
  environment["npm_config_cache"] = join(folder, "cache");
  environment["npm_config_registry"] = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  environment["PATH"] = [dirname(process.execPath), ...systemPath].join(":");
}, 120_000);

afterAll(() => {
  server?.close();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

interface Packed {
  readonly name: string;
  readonly file: string;
  readonly integrity: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  readonly files: readonly { readonly path: string }[];
}

function pack(place: string): Packed {
  const args = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder];
  const said = JSON.parse(npm(args, { cwd: join(root, place), env: environment }).stdout);
  const [packed] = (Array.isArray(said) ? said : Object.values(said)) as [Packed & { readonly filename: string }];
  const manifest = JSON.parse(readFileSync(join(root, place, "package.json"), "utf8"));
  return { ...packed, file: join(folder, packed.filename), manifest };
}

function describePackage({ name, manifest, integrity }: Packed, origin: string) {
  const dist = { tarball: `${origin}/${name}/-/package.tgz`, integrity };
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

interface Said {
  readonly status: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** The registry answers from this process meanwhile. */
function shell(script: string): Promise<Said> {
  return new Promise((done) => {
    const options = { cwd: folder, encoding: "utf8", env: environment } as const;
    const child = execFile("bash", ["-c", script], options, (error, stdout, stderr) =>
      done({ status: error?.code ?? 0, stdout, stderr }),
    );
    child.stdin?.end();
  });
}

test("its version is that of llm-do, and it is three files", () => {
  const { files, manifest } = pack("create");
  expect(files.map(({ path }) => path).sort()).toEqual(["LICENSE", "README.md", "create-llm-do.js", "package.json"]);
  expect(manifest["version"]).toBe(version);
});

describe.skipIf(isSkipped)("npm create llm-do", () => {
  test("makes a program that runs by the line that it prints", async () => {
    const created = await shell("npm create --yes llm-do reviews -- --template review");
    expect(created).toMatchObject({ status: 0, stdout: expect.stringMatching(/First: cd reviews\n$/) });
    const [run = ""] = /npx llm-do \. -i diff=.*/.exec(created.stdout) ?? [];
    const ran = await shell(`cd reviews && ${run} && npx llm-do test . && npx llm-do --version`);
    expect(ran, ran.stderr).toMatchObject({ status: 0 });
    expect(ran.stdout).toMatch(new RegExp(`not awaited[^]*1 passed, 0 failed[^]*${version}\n$`));
    expect(JSON.parse(readFileSync(join(folder, "reviews/package.json"), "utf8"))).toMatchObject({
      name: "reviews",
      private: true,
      dependencies: { "llm-do": `^${version}` },
    });
    expect(readFileSync(join(folder, "reviews/.gitignore"), "utf8")).toBe("node_modules/\n.llm-do/\n");
    const again = await shell("npm create --yes llm-do reviews");
    expect(again).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("reviews is not empty. In a project that you have"),
    });
  }, 300_000);

  test("a mistake leaves nothing behind", async () => {
    const failed = await shell("npm create --yes llm-do broken -- --template leters");
    expect(failed.status).not.toBe(0);
    expect(failed.stderr).toContain("notes, words, letters, review, triage, invoice");
    expect(failed.stderr).toContain("nothing was made in broken");
    expect(readdirSync(folder)).not.toContain("broken");
  }, 300_000);
});
