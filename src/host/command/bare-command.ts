import { randomBytes } from "node:crypto";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { OpenFolder } from "../scope-walk.ts";
import { createCommandEnvironment } from "./command-environment.ts";
import { toArgv } from "./command-request.ts";
import type { CommandSetting } from "./command-setting.ts";
import type { Ended } from "./launch.ts";
import { markerName } from "./marked-processes.ts";
import { runProcess } from "./run-process.ts";
import { toolchainEnvironment } from "./toolchain-view.ts";

/** Without a wall: the cleaned environment, the held working directory and the process group are all there is. */
export async function runBare(setting: CommandSetting, folder: OpenFolder): Promise<Ended> {
  const { request, machine, path, shell } = setting;
  const temporary = await realpath(tmpdir());
  const home = await mkdtemp(join(temporary, "llm-do-home-"));
  const cwd = await folder.directory.openHandle(".");
  try {
    request.signal.throwIfAborted();
    if (setting.gitConfiguration !== undefined) await writeFile(join(home, ".gitconfig"), setting.gitConfiguration);
    const [file = "", ...args] = toArgv(request.command, shell ?? "");
    const environment = createCommandEnvironment({
      environment: { ...toolchainEnvironment(path, machine.homeDirectory), ...machine.environment },
      path,
      separator: delimiter,
      home,
      temporary,
      shell,
      hooks: request.hooks === true,
      added: { ...request.environment, [markerName]: randomBytes(12).toString("hex") },
    });
    return await runProcess({ file, args, environment, cwd: cwd.path, handed: [] }, request);
  } finally {
    await cwd.close();
    await rm(home, { recursive: true, force: true }).catch(() => undefined);
  }
}
