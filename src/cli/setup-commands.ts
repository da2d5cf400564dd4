import { Argument, type Command } from "commander";
import type { ConfigFlags } from "./commands/config.ts";
import type { InitFlags } from "./commands/init.ts";
import type { KeysFlags } from "./commands/keys.ts";
import type { ModelsFlags } from "./commands/models.ts";
import type { LoginFlags, OAuthFlags } from "./commands/oauth.ts";
import type { TrustFlags } from "./commands/trust.ts";
import { type Shell, shells } from "./completion/scripts.ts";
import type { SchemaName } from "./editor-schemas.ts";
import { UsageError } from "./exit-codes.ts";

/** Receives the exit code of a command; holds the arguments after `--`. */
export interface Exit {
  exitCode: number;
  readonly afterDashes: readonly string[] | undefined;
}

/** `llm-do schema [worker|manifest|test]`. */
export function addSchema(program: Command, exit: Exit): void {
  program
    .command("schema")
    .description("print a JSON Schema: of the files that you write, for editors, and of what --json and --events print")
    .addArgument(
      new Argument(
        "[of]",
        "a worker file, the manifest llm-do.yaml, a file of tests, a line of --events, or the object of --json",
      )
        .choices(["worker", "manifest", "test", "event", "result"])
        .default("worker"),
    )
    .action(async (name: SchemaName | "event" | "result") => {
      refuseDashes("schema", exit);
      const { schemaCommand } = await import("./commands/schema.ts");
      exit.exitCode = await schemaCommand(name);
    });
}

/** `llm-do docs [TOPIC]`. */
export function addDocs(program: Command, exit: Exit): void {
  program
    .command("docs")
    .description("print a page of the documentation; without a topic, list the pages")
    .argument("[topic...]", "a page, or the heading of a section: a flag, an event, the code of a diagnostic")
    .action(async (topic: readonly string[]) => {
      refuseDashes("docs", exit);
      const { docsCommand } = await import("./commands/docs.ts");
      exit.exitCode = await docsCommand(topic);
    });
}

/** `llm-do completion SHELL`. */
export function addCompletion(program: Command, exit: Exit): void {
  program
    .command("completion")
    .description("print the script by which a shell completes programs, workers, flags, models and runs")
    .addArgument(new Argument("<shell>", "for which; the script begins with how to switch it on").choices(shells))
    .action(async (shell: Shell) => {
      refuseDashes("completion", exit);
      const { completionCommand } = await import("./commands/completion.ts");
      exit.exitCode = await completionCommand(shell);
    });
}

/** `llm-do lsp`. */
export function addLanguageServer(program: Command, exit: Exit): void {
  program
    .command("lsp")
    .description(
      "serve an editor over stdio: diagnostics, completion, explanations, definitions and quick fixes; run none of a program",
    )
    .option("--stdio", "as some editors say; there is no other way")
    .action(async () => {
      refuseDashes("lsp", exit);
      const { serve } = await import("./lsp/server.ts");
      await serve();
    });
}

/** `llm-do init [FOLDER]`. */
export function addInit(program: Command, exit: Exit): void {
  program
    .command("init")
    .description("make a small program that runs at once; overwrites nothing")
    .argument("[folder]", "where; made if it is not there", ".")
    .option("--name <name>", "what the program is called; by default as its folder")
    .option("--model <provider:name>", "the model of its workers")
    .action(async (folder: string, flags: InitFlags) => {
      refuseDashes("init", exit);
      const { initCommand } = await import("./commands/init.ts");
      exit.exitCode = await initCommand(folder, flags);
    });
}

export function refuseDashes(command: string, { afterDashes }: Exit): void {
  if (afterDashes !== undefined) throw new UsageError(`\`--\` begins the prompt of a run, and \`llm-do ${command}\` takes none`);
}

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

/** `llm-do keys set|list|rm`. */
export function addKeys(program: Command, exit: Exit): void {
  const keys = program.command("keys").description("keep keys of providers in a file that only you can read");
  keys
    .command("set")
    .description("keep a provider's key: read from stdin, or asked for at the terminal and not shown")
    .argument("<provider>", "as `llm-do models` lists it; the key itself is never an argument")
    .allowExcessArguments()
    .action(async (provider: string, _flags: unknown, { args }: Command) => {
      refuseDashes("keys set", exit);
      // Arguments that are left over are not repeated: they are the key.
      if (args.length > 1) throw new UsageError("a key is no argument, where other programs can see it; give it on stdin");
      const { setKeyCommand } = await import("./commands/keys.ts");
      exit.exitCode = await setKeyCommand(provider);
    });
  keys
    .command("list")
    .description("list the keys that there are, masked, and where each is from")
    .option("--json", "print JSON")
    .action(async (flags: KeysFlags) => {
      refuseDashes("keys list", exit);
      const { listKeysCommand } = await import("./commands/keys.ts");
      exit.exitCode = await listKeysCommand(flags);
    });
  keys
    .command("rm")
    .description("remove a key that is kept")
    .argument("<provider>", "whose key")
    .action(async (provider: string) => {
      refuseDashes("keys rm", exit);
      const { removeKeyCommand } = await import("./commands/keys.ts");
      exit.exitCode = await removeKeyCommand(provider);
    });
}

/** `llm-do config`. */
export function addConfig(program: Command, exit: Exit): void {
  program
    .command("config")
    .description("show your model, limits and verbosity, and where each is from")
    .option("--json", "print JSON")
    .action(async (flags: ConfigFlags) => {
      refuseDashes("config", exit);
      const { configCommand } = await import("./commands/config.ts");
      exit.exitCode = await configCommand(flags);
    });
}

/** `llm-do oauth login|status|logout`. */
export function addOAuth(program: Command, exit: Exit): void {
  const oauth = program.command("oauth").description("log in at providers that sell by login, and at MCP servers");
  oauth
    .command("login")
    .description("log in with the browser, at the OAuth server that the configuration names, or that an MCP server does")
    .argument("<provider>", "a name under `logins` of the configuration, or the address of an MCP server")
    .option("--device", "show a code to be typed on another machine, for one without a browser")
    .action(async (provider: string, flags: LoginFlags) => {
      refuseDashes("oauth login", exit);
      const { loginCommand } = await import("./commands/oauth.ts");
      exit.exitCode = await loginCommand(provider, flags);
    });
  oauth
    .command("status")
    .description("list the logins, where each one's token goes, and how long it is good for")
    .option("--json", "print JSON")
    .action(async (flags: OAuthFlags) => {
      refuseDashes("oauth status", exit);
      const { loginStatusCommand } = await import("./commands/oauth.ts");
      exit.exitCode = await loginStatusCommand(flags);
    });
  oauth
    .command("logout")
    .description("forget a login")
    .argument("<provider>", "at which")
    .action(async (provider: string) => {
      refuseDashes("oauth logout", exit);
      const { logoutCommand } = await import("./commands/oauth.ts");
      exit.exitCode = await logoutCommand(provider);
    });
}

/** `llm-do models [PATTERN]`, `llm-do models default|alias`. */
export function addModels(program: Command, exit: Exit): void {
  const models = program
    .command("models")
    .description("list the providers of models, and what each still needs")
    .argument("[pattern]", "list the models that fit: a part of `provider:name`, or a glob over it")
    .option("--json", "print JSON")
    .action(async (pattern: string | undefined, flags: ModelsFlags) => {
      refuseDashes("models", exit);
      const { modelsCommand } = await import("./commands/models.ts");
      exit.exitCode = await modelsCommand(pattern, flags);
    });
  models
    .command("default")
    .description("show the model for which nothing else names one, or set it in your configuration")
    .argument("[model]", "`provider:name`, or an alias")
    .option("--unset", "have none")
    .action(async (model: string | undefined, { unset = false }: { readonly unset?: boolean }) => {
      refuseDashes("models default", exit);
      const { defaultModelCommand } = await import("./commands/model-names.ts");
      exit.exitCode = await defaultModelCommand(model, unset);
    });
  models
    .command("alias")
    .description("list your own names for models, or give one in your configuration")
    .argument("[name]", "the name; wherever a model can be written, it stands for the model")
    .argument("[model]", "`provider:name`")
    .option("--unset", "remove the name")
    .action(async (name: string | undefined, model: string | undefined, { unset = false }: { readonly unset?: boolean }) => {
      refuseDashes("models alias", exit);
      const { aliasCommand } = await import("./commands/model-names.ts");
      exit.exitCode = await aliasCommand({ name, model, unset });
    });
}
