import type { Command } from "commander";
import { type Exit, refuseDashes } from "./authoring-commands.ts";
import type { TrustFlags } from "./commands/trust.ts";

/** `llm-do trust list|revoke`. */
export function addTrust(program: Command, exit: Exit): void {
  const trust = program.command("trust").description("see and take back which folders are trusted for good");
  trust
    .command("list")
    .description("list the folders that are trusted for good, with what that was given for")
    .option("--json", "print JSON")
    .action(async (flags: TrustFlags) => {
      refuseDashes("trust list", exit);
      const { listTrustCommand } = await import("./commands/trust.ts");
      exit.exitCode = await listTrustCommand(flags);
    });
  trust
    .command("revoke")
    .description("trust a folder no longer: the next run of its program asks again")
    .argument("[folder]", "the program's folder; also one that is gone", ".")
    .option("--json", "print JSON")
    .action(async (folder: string, flags: TrustFlags) => {
      refuseDashes("trust revoke", exit);
      const { revokeTrustCommand } = await import("./commands/trust.ts");
      exit.exitCode = await revokeTrustCommand(folder, flags);
    });
}
