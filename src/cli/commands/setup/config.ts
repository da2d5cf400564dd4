import { maskCredentials } from "../../../diagnostics/hide-secrets.ts";
import { createNodeHost } from "../../../host/node-host.ts";
import type { UserConfigFile } from "../../../language/user-config.ts";
import { type Limits, limitNames } from "../../../protocol/usage.ts";
import { defaultTurns } from "../../../runtime/bounds/check-limits.ts";
import { defaultLimits } from "../../../runtime/create-config.ts";
import { exitCodes } from "../../exit-codes.ts";
import { renderJson, writeResult } from "../../output.ts";
import { readUserConfig } from "../../programs/user-config.ts";
import { renderColumns } from "../../render-columns.ts";

export interface ConfigFlags {
  readonly json?: boolean;
}

/** A value that holds where neither a program nor a flag says another. */
interface Setting {
  readonly key: string;
  readonly value: string | number | null;
  /** The variable, the configuration's file, or `default`. */
  readonly source: string;
}

/** `llm-do config`: what the user's configuration and the environment say, and the defaults of the rest. */
export async function configCommand({ json }: ConfigFlags): Promise<number> {
  const { environment, configFile } = createNodeHost();
  const settings = listSettings(await readUserConfig(), { model: environment["LLM_DO_MODEL"]?.trim() || undefined, configFile });
  if (json) await writeResult(renderJson({ v: 1, file: configFile, settings }));
  else await writeResult(renderColumns(settings.map(({ key, value, source }) => [key, String(value ?? "none"), source])));
  return exitCodes.done;
}

function listSettings(
  { model, aliases, limits, verbosity, logins }: UserConfigFile,
  { model: variable, configFile }: { readonly model: string | undefined; readonly configFile: string },
): readonly Setting[] {
  const own = (key: string, value: string | number | undefined, fallback: string | number | null): Setting => ({
    ...{ key, value: typeof value === "string" ? maskCredentials(value) : (value ?? fallback) },
    source: value === undefined ? "default" : configFile,
  });
  const declared = limits?.value ?? {};
  const defaults: Limits = { ...defaultLimits, turns: defaultTurns };
  return [
    variable === undefined ? own("model", model?.value, null) : { key: "model", value: variable, source: "LLM_DO_MODEL" },
    ...(aliases?.value ?? []).map(({ name, value }) => own(`aliases.${name.value}`, value.value, null)),
    ...limitNames.map((name) => own(`limits.${name}`, declared[name]?.value, defaults[name] ?? null)),
    own("verbosity", verbosity?.value, 0),
    ...(logins?.value ?? []).map(({ name, value }) => own(`logins.${name.value}`, value.value.address.value, null)),
  ];
}
