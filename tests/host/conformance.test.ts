import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createNodeHost, type NodeHostOverrides } from "../../src/host/node-host.ts";
import { memoryHost } from "../../src/testing/memory-host.ts";
import { describeHost } from "../conformance/host.ts";
import type { FixtureContent, HostFixture } from "../conformance/host-bench.ts";

async function createNodeFixture(overrides: NodeHostOverrides): Promise<HostFixture> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "llm-do-host-")));
  return {
    host: createNodeHost(overrides),
    root,
    put: (path, content) => put(join(root, path), content),
    cleanup: () => rm(root, { recursive: true, force: true }),
  };
}

async function put(path: string, content: FixtureContent): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  if (typeof content === "string" || content instanceof Uint8Array) await writeFile(path, content);
  else if ("link" in content) await symlink(content.link, path);
  else if ("folder" in content) await mkdir(path, { recursive: true });
  else execFileSync("mkfifo", [path]);
}

describeHost("node, by descriptor", () => createNodeFixture({}));
describeHost("node, by path", () => createNodeFixture({ system: { byDescriptor: false } }));
describeHost("memory", async () => {
  const host = memoryHost({ files: { "/root": { folder: true } } });
  return { host, root: "/root", put: async (path, content) => host.put(`/root/${path}`, content), cleanup: async () => {} };
});
