import { Argument, type Command, Option } from "commander";
import { shells } from "../completion/scripts.ts";
import { UsageError } from "../exit-codes.ts";
import { type TemplateName, templates } from "../programs/init-templates.ts";
import { commandWords } from "./help-examples.ts";

/** Receives the exit code of a command; holds the arguments after `--`. */
export interface Exit {
  exitCode: number;
  readonly afterDashes: readonly string[] | undefined;
}

/** The action of a command that takes no prompt: rejects `--`, loads the command's code, and keeps its exit code. */
export function act<Given extends unknown[]>(exit: Exit, load: () => Promise<(...given: Given) => Promise<number>>) {
  return async (...given: Given): Promise<void> => {
    const words = commandWords(given.at(-1) as Command);
    if (exit.afterDashes !== undefined) throw new UsageError(`\`--\` begins the prompt of a run, and \`${words}\` takes none`);
    exit.exitCode = await (await load())(...given);
  };
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
    .action(act(exit, async () => (await import("../commands/schema.ts")).schemaCommand));
}

/** `llm-do docs [TOPIC]`. */
export function addDocs(program: Command, exit: Exit): void {
  program
    .command("docs")
    .description("print a page of the documentation; without a topic, list the pages")
    .argument("[topic...]", "a page, or the heading of a section: a flag, an event, the code of a diagnostic")
    .option("--llms", "print one text for a model that is to write programs: the format, the rules, an example")
    .action(act(exit, async () => (await import("../commands/docs.ts")).docsCommand));
}

/** `llm-do completion SHELL`. */
export function addCompletion(program: Command, exit: Exit): void {
  program
    .command("completion")
    .description("print the script by which a shell completes programs, workers, flags, models and runs")
    .addArgument(new Argument(`<${shells.join("|")}>`, "the shell; the script begins with how to switch it on").choices(shells))
    .action(act(exit, async () => (await import("../commands/setup/completion.ts")).completionCommand));
}

/** `llm-do lsp`. */
export function addLanguageServer(program: Command, exit: Exit): void {
  program
    .command("lsp")
    .description(
      "serve an editor over stdio: diagnostics, completion, explanations, definitions and quick fixes; run none of a program",
    )
    .option("--stdio", "as some editors say; there is no other way")
    .action(act(exit, async () => (await import("../lsp/server.ts")).serve));
}

/** `llm-do init [FOLDER]`. */
export function addInit(program: Command, exit: Exit): void {
  program
    .command("init")
    .description("make a small program that runs at once; overwrites nothing")
    .argument("[folder]", "where; made if it is not there", ".")
    .addOption(
      new Option(
        "--template <name>",
        "what it does: lists questions in notes; counts words with a tool in TypeScript; sorts letters, with two workers and a tool; reviews a diff; triages messages at night; turns an invoice into data; works by commands of the shell",
      )
        .choices(Object.keys(templates))
        .default("notes" satisfies TemplateName),
    )
    .option("--name <name>", "what the program is called; by default as its folder")
    .option("-m, --model <provider:name>", "the model of its workers")
    .action(act(exit, async () => (await import("../commands/init.ts")).initCommand));
}

/** `llm-do trust list|revoke`. */
export function addTrust(program: Command, exit: Exit): void {
  const trust = program.command("trust").description("see and take back which folders are trusted for good");
  trust
    .command("list")
    .description("list the folders that are trusted for good, with what that was given for")
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/trust.ts")).listTrustCommand));
  trust
    .command("revoke")
    .description("trust a folder no longer: the next run of its program asks again")
    .argument("[folder]", "the program's folder; also one that is gone", ".")
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/trust.ts")).revokeTrustCommand));
}

/** `llm-do keys set|list|rm`. */
export function addKeys(program: Command, exit: Exit): void {
  const keys = program.command("keys").description("keep keys of providers in a file that only you can read");
  keys
    .command("set")
    .description("keep a provider's key: read from stdin, or asked for at the terminal and not shown")
    .argument("<provider>", "as `llm-do models` lists it; the key itself is never an argument")
    .allowExcessArguments()
    .action(
      act(exit, async () => {
        const { setKeyCommand } = await import("../commands/setup/keys.ts");
        return (provider: string, _flags: unknown, { args }: Command) => {
          // Arguments that are left over are not repeated: they are the key.
          if (args.length > 1) throw new UsageError("a key is no argument, where other programs can see it; give it on stdin");
          return setKeyCommand(provider);
        };
      }),
    );
  keys
    .command("list")
    .description("list the keys that there are, masked, and where each is from")
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/setup/keys.ts")).listKeysCommand));
  keys
    .command("rm")
    .description("remove a key that is kept")
    .argument("<provider>", "whose key")
    .action(act(exit, async () => (await import("../commands/setup/keys.ts")).removeKeyCommand));
}

/** `llm-do config`. */
export function addConfig(program: Command, exit: Exit): void {
  program
    .command("config")
    .description("show your model, limits and verbosity, and where each is from")
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/setup/config.ts")).configCommand));
}

/** `llm-do oauth login|status|logout`. */
export function addOAuth(program: Command, exit: Exit): void {
  const oauth = program.command("oauth").description("log in at providers that sell by login, and at MCP servers");
  oauth
    .command("login")
    .description("log in with the browser, at the OAuth server that the configuration names, or that an MCP server does")
    .argument("<provider>", "a name under `logins` of the configuration, or the address of an MCP server")
    .option("--device", "show a code to be typed on another machine, for one without a browser")
    .action(act(exit, async () => (await import("../commands/setup/oauth.ts")).loginCommand));
  oauth
    .command("status")
    .description("list the logins, where each one's token goes, and how long it is good for")
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/setup/oauth.ts")).loginStatusCommand));
  oauth
    .command("logout")
    .description("forget a login")
    .argument("<provider>", "at which")
    .action(act(exit, async () => (await import("../commands/setup/oauth.ts")).logoutCommand));
}

/** `llm-do models [PATTERN]`, `llm-do models default|alias`. */
export function addModels(program: Command, exit: Exit): void {
  const models = program
    .command("models")
    .description("list the providers of models, and what each still needs")
    .argument("[pattern]", "list the models that fit: a part of `provider:name`, or a glob over it")
    .option("--json", "print JSON")
    .action(act(exit, async () => (await import("../commands/setup/models.ts")).modelsCommand));
  models
    .command("default")
    .description("show the model for which nothing else names one, or set it in your configuration")
    .argument("[model]", "`provider:name`, or an alias")
    .option("--unset", "have none")
    .action(act(exit, async () => (await import("../commands/setup/model-names.ts")).defaultModelCommand));
  models
    .command("alias")
    .description("list your own names for models, or give one in your configuration")
    .argument("[name]", "the name; wherever a model can be written, it stands for the model")
    .argument("[model]", "`provider:name`")
    .option("--unset", "remove the name")
    .action(act(exit, async () => (await import("../commands/setup/model-names.ts")).aliasCommand));
}
