import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { closing, type OpenFolder } from "../scopes/scope-walk.ts";
import { createCommandEnvironment, inPrivateHome } from "./command-environment.ts";
import { toArgv } from "./command-request.ts";
import type { CommandSetting } from "./command-setting.ts";
import type { Ended } from "./launch.ts";
import { markerName } from "./marked-processes.ts";
import { runProcess } from "./run-process.ts";

/** Runs a command without a wall: it has the cleaned environment, the open working directory and a process group, no more. */
export function runBare(setting: CommandSetting, folder: OpenFolder): Promise<Ended> {
  const { request, shell = "" } = setting;
  return inPrivateHome(setting, async (home) => {
    const temporary = realpathSync.native(tmpdir());
    const marker = { [markerName]: randomBytes(12).toString("hex") };
    const environment = { ...createCommandEnvironment(setting, { home, temporary }), ...marker };
    const [file = "", ...args] = toArgv(request.command, shell);
    return closing(await folder.directory.openHandle("."), (cwd) =>
      runProcess({ file, args, environment, cwd: cwd.path, handed: [] }, request),
    );
  });
}
