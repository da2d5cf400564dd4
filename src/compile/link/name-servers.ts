import type { Spanned } from "../../diagnostics/source.ts";
import { spanAt } from "../../language/shapes/json-shape.ts";
import type { McpServerSyntax } from "../../language/shapes/server-shapes.ts";
import { valuesOf } from "../../language/shapes/values-of.ts";
import type { ToolsetSyntax } from "../../language/worker-file.ts";
import type { Worker } from "../../program/program.ts";
import { isRecord, type JsonObject } from "../../protocol/json.ts";
import { mayBegin, serverSeparator } from "../../toolsets/tool-name.ts";
import { clipText } from "../../util/text/clip-text.ts";
import { didYouMean } from "../../util/text/did-you-mean.ts";
import type { Compilation } from "../compilation.ts";
import type { TextFilter } from "../expand-variables.ts";
import type { Home } from "../home.ts";
import { checkKeys, type KnownProvider } from "./link-providers.ts";

/**
 * Replaces the names under `servers` of `mcp` by what the manifest says of these servers. Packages see none of the manifest's servers.
 * Undefined if a name is unknown, which is reported.
 */
export function nameServers(
  { manifest, used, diagnostics }: Compilation,
  syntax: ToolsetSyntax,
  home: Home,
): ToolsetSyntax | undefined {
  const { servers } = syntax.config.value;
  if (!Array.isArray(servers)) return syntax;
  const known = home.package === undefined ? (manifest?.mcp_servers?.value ?? []) : [];
  const found: Record<string, JsonObject> = {};
  const spans = new Map(syntax.configSpans);
  for (const [index, name] of servers.entries()) {
    const server = known.find((one) => one.name.value === name);
    if (!server) {
      const message = `there is no MCP server \`${clipText(String(name), 64)}\` in the manifest`;
      const names = known.map((one) => one.name.value);
      const note = didYouMean(String(name), names) ?? "write it under `mcp_servers` of `llm-do.yaml`, or give `servers` a map";
      const span = spanAt(syntax.configSpans, ["servers", String(index)]) ?? syntax.reference.span;
      return diagnostics.report("unknown-mcp-server", { message, span, note });
    }
    used.add(server.name);
    found[server.name.value] = toConfig(server.value.value);
    spans.set(`servers.${server.name.value}`, server.name.span);
    for (const [key, { span }] of Object.entries(server.value.value)) spans.set(`servers.${server.name.value}.${key}`, span);
  }
  return { ...syntax, config: { ...syntax.config, value: { ...syntax.config.value, servers: found } }, configSpans: spans };
}

/** Checks servers of the manifest that no worker names: a mistake in one is found before it is used. */
export async function checkUnusedServers({ manifest, used, builtIns, diagnostics }: Compilation): Promise<void> {
  for (const { name, value } of manifest?.mcp_servers?.value ?? []) {
    const checked = used.has(name)
      ? undefined
      : await builtIns.get("mcp")?.config?.validate({ servers: { [name.value]: toConfig(value.value) } });
    for (const { path, message } of checked?.ok === false ? checked.issues : []) {
      const [, , key = ""] = path;
      const { span } = (value.value as Readonly<Record<string, Spanned<unknown> | undefined>>)[key] ?? name;
      diagnostics.report("toolset-config", { message: `\`mcp_servers.${path.slice(1).join(".")}\` ${message}`, span });
    }
  }
}

function toConfig({ env, headers, ...syntax }: McpServerSyntax): JsonObject {
  const maps = Object.entries({ env, headers }).flatMap(([key, map]) => {
    const texts = map?.value.map(({ name, value }) => [name.value, value.value] as const);
    return texts ? [[key, Object.fromEntries(texts)] as const] : [];
  });
  return { ...valuesOf(syntax), ...Object.fromEntries(maps) } as JsonObject;
}

/** Variables are filled in where they are not shown: command lines and addresses are. */
export const isServerVariable: TextFilter = ([servers, , key]) => servers === "servers" && (key === "env" || key === "headers");

/** Reports headers with the key of a provider: it goes to the address of that provider only. */
export function checkHeaderKeys(compilation: Compilation, syntax: ToolsetSyntax, providers: readonly KnownProvider[]): void {
  const { servers } = syntax.config.value;
  for (const [name, server] of isRecord(servers) ? Object.entries(servers) : []) {
    const headers = isRecord(server) && isRecord(server["headers"]) ? server["headers"] : {};
    for (const [header, value] of Object.entries(headers)) {
      const span = spanAt(syntax.configSpans, ["servers", name, "headers", header]) ?? syntax.reference.span;
      if (typeof value === "string") checkKeys(compilation, { value, span }, providers);
    }
  }
}

/** Returns the MCP server of the program, connected or not, whose tool this name is or could be. */
export function serverWithTool(name: string, { manifest, builtIns }: Compilation, workers: Iterable<Worker>): string | undefined {
  const declared = (manifest?.mcp_servers?.value ?? []).map((server) => ({ prefix: undefined, server: server.name.value }));
  const used = [...workers].flatMap(({ toolsets }) =>
    toolsets.flatMap(({ toolset, config, prefix }) =>
      toolset === builtIns.get("mcp") ? Object.keys((config as ServersConfig).servers).map((server) => ({ prefix, server })) : [],
    ),
  );
  return [...declared, ...used].find(({ prefix, server }) => mayBegin(name, prefix, `${server}${serverSeparator}`))?.server;
}

/** The part of a server's configuration that says what is started. */
export interface StartedServer {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

interface ServersConfig {
  readonly servers: Readonly<Record<string, StartedServer | { readonly url: string }>>;
}

/** Returns the servers that the workers start. */
export function serversOf({ builtIns }: Compilation, workers: ReadonlyMap<string, Worker>): readonly StartedServer[] {
  const references = [...workers.values()].flatMap(({ toolsets }) => toolsets);
  const configs = references.flatMap(({ toolset, config }) => (toolset === builtIns.get("mcp") ? [config as ServersConfig] : []));
  return configs.flatMap(({ servers }) => Object.values(servers).flatMap((server) => ("command" in server ? [server] : [])));
}
