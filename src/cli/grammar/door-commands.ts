import { type Command, Option } from "commander";
import { collect } from "./repeated-options.ts";
import { addCompileOptions, addTermOptions } from "./run-options.ts";
import { act, type Exit } from "./setup-commands.ts";

const otelHelp = "send spans to the OpenTelemetry endpoint in OTEL_EXPORTER_OTLP_ENDPOINT";
const targetsHelp = "a folder with a main.worker, or a .worker file (default: .)";

/** `llm-do mcp [TARGET…]`. */
export function addMcp(program: Command, exit: Exit): void {
  const mcp = program
    .command("mcp")
    .description("serve workers as tools of an MCP server over stdio: to Claude Code, editors and other agents")
    .argument("[target...]", targetsHelp);
  addTermOptions(addCompileOptions(mcp))
    .optionsGroup("The server:")
    .option("--otel", otelHelp)
    .option("--worker <name>", "offer this worker alone (repeatable; default: all that the programs reach)", collect)
    .option("--ask-client", "put questions to the client, as a form; many clients are agents that answer by themselves")
    .addOption(printConfigOption().choices(["claude", "cursor", "vscode", "zed"]))
    .action(act(exit, async () => (await import("../commands/doors/mcp.ts")).mcpCommand));
}

/** `llm-do acp [TARGET]`. */
export function addAcp(program: Command, exit: Exit): void {
  const acp = program
    .command("acp")
    .description("serve a worker as an agent over stdio (Agent Client Protocol): to Zed, JetBrains and Neovim")
    .argument("[target]", targetsHelp);
  addTermOptions(addCompileOptions(acp))
    .optionsGroup("The agent:")
    .option("--otel", otelHelp)
    .addOption(printConfigOption().choices(["zed", "jetbrains"]))
    .action(act(exit, async () => (await import("../commands/doors/acp.ts")).acpCommand));
}

function printConfigOption(): Option {
  return new Option("--print-config <client>", "print the lines for a client's configuration, with the other flags, and end");
}
