import { createNodeHost } from "../../host/node-host.ts";
import { isDebugging } from "../debugging.ts";
import { exitCodes } from "../exit-codes.ts";
import { writeResult } from "../output.ts";
import { renderColumns } from "../render-columns.ts";
import { readUserConfig } from "../user-config.ts";

export interface ConfigFlags {
  readonly json?: boolean;
}

interface Setting {
  readonly name: string;
  readonly value: string;
  /** A variable of the environment, or a file. */
  readonly source: string;
}

/** `llm-do config`: what holds for all programs of the user, and where each value is from. */
export async function configCommand({ json }: ConfigFlags): Promise<number> {
  const { environment, configFile, stateDirectory, files } = createNodeHost();
  const { model, aliases, logins } = await readUserConfig();
  const variable = environment["LLM_DO_MODEL"]?.trim();
  const isThere = (await files.kind(configFile)) !== undefined;
  const settings: readonly Setting[] = [
    { name: "configuration", value: configFile, source: sourceOf(environment, "LLM_DO_CONFIG_DIR", isThere ? "" : "not there") },
    { name: "state", value: stateDirectory, source: sourceOf(environment, "LLM_DO_STATE_DIR", "") },
    ...(variable ? [{ name: "model", value: variable, source: "LLM_DO_MODEL" }] : []),
    ...(model && !variable ? [{ name: "model", value: model.value, source: configFile }] : []),
    ...(isDebugging({}) ? [{ name: "debug", value: "true", source: "LLM_DO_DEBUG" }] : []),
    ...(aliases?.value ?? []).map(({ name, value }) => ({ name: `alias ${name.value}`, value: value.value, source: configFile })),
    ...(logins?.value ?? []).map(({ name, value }) => ({
      ...{ name: `login ${name.value}`, value: value.value.address.value, source: configFile },
    })),
  ];
  if (json) await writeResult(`${JSON.stringify({ v: 1, settings }, undefined, 2)}\n`);
  else await writeResult(renderColumns(settings.map(({ name, value, source }) => [name, value, source])));
  return exitCodes.done;
}

function sourceOf(environment: Readonly<Record<string, string | undefined>>, variable: string, otherwise: string): string {
  return environment[variable] ? variable : otherwise;
}
