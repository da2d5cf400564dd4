import { createNodeHost } from "../../../host/node-host.ts";
import { isAlias, type UserConfigFile } from "../../../language/user-config.ts";
import { parseModelId } from "../../../models/model-id.ts";
import { builtInProviders } from "../../../models/providers/providers.ts";
import { show } from "../../../ui/explain/phrases.ts";
import { commandName } from "../../command-name.ts";
import { exitCodes, UsageError } from "../../exit-codes.ts";
import { writeResult, writeStderr } from "../../output.ts";
import { aliasesOf, changeUserConfig, readUserConfig } from "../../programs/user-config.ts";
import { renderColumns } from "../../render-columns.ts";

interface UnsetFlags {
  readonly unset?: boolean;
}

/** `llm-do models default [MODEL]`: the model of every worker for which nothing else names one, and its source. */
export async function defaultModelCommand(model: string | undefined, { unset = false }: UnsetFlags): Promise<number> {
  if (model !== undefined && unset) throw new UsageError("a model and --unset say different things");
  const config = await readUserConfig();
  if (model === undefined && !unset) return showDefault(config);
  if (model !== undefined && !aliasesOf(config).has(model)) checkModel(model);
  const path = await changeUserConfig(["model"], model);
  writeStderr(
    model === undefined ? "llm-do: there is no default model\n" : `llm-do: the default model is ${show(model)}, by ${path}\n`,
  );
  return exitCodes.done;
}

async function showDefault({ model }: UserConfigFile): Promise<number> {
  const { environment, configFile } = createNodeHost();
  const variable = environment["LLM_DO_MODEL"]?.trim();
  const rows = [
    ...(variable ? [[variable, "LLM_DO_MODEL"]] : []),
    ...(model ? [[model.value, variable ? `${configFile}, not used: LLM_DO_MODEL is set` : configFile]] : []),
  ];
  if (rows.length === 0)
    writeStderr(`llm-do: there is no default model; ${commandName()} models default PROVIDER:NAME sets one\n`);
  else await writeResult(renderColumns(rows));
  return exitCodes.done;
}

/** `llm-do models alias [NAME [MODEL]]`: the user's own names for models. */
export async function aliasCommand(
  name: string | undefined,
  model: string | undefined,
  { unset = false }: UnsetFlags,
): Promise<number> {
  const aliases = aliasesOf(await readUserConfig());
  if (name === undefined || (model === undefined && !unset)) {
    const rows = [...aliases].filter(([alias]) => name === undefined || alias === name);
    if (name !== undefined && rows.length === 0) throw new UsageError(`there is no alias \`${show(name)}\``);
    if (rows.length === 0)
      writeStderr(`llm-do: there are no aliases; ${commandName()} models alias NAME PROVIDER:NAME gives one\n`);
    else await writeResult(renderColumns(rows));
    return exitCodes.done;
  }
  if (model !== undefined && unset) throw new UsageError("a model and --unset say different things");
  if (!isAlias(name))
    throw new UsageError(`\`${show(name)}\` cannot be an alias: letters, digits, \`.\`, \`_\` and \`-\`, a letter first`);
  if (unset && !aliases.has(name)) throw new UsageError(`there is no alias \`${show(name)}\``);
  if (model !== undefined) checkModel(model);
  const path = await changeUserConfig(["aliases", name], model);
  writeStderr(`llm-do: ${model === undefined ? `the alias ${name} is removed from` : `${name} is ${show(model)}, by`} ${path}\n`);
  return exitCodes.done;
}

/** Providers that a program declares are not known here: the name has to have the form of a model id alone. */
function checkModel(text: string): void {
  const parsed = parseModelId(
    text,
    builtInProviders.map(({ name }) => name),
  );
  if (parsed.ok || (parsed.error.type === "unknown-provider" && parsed.error.suggestion === undefined)) return;
  throw new UsageError(parsed.error.message);
}
