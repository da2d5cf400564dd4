import type { Diagnostic } from "../diagnostics/diagnostic.ts";
import { DiagnosticList } from "../diagnostics/diagnostic-list.ts";
import type { Source } from "../diagnostics/source.ts";
import { clipText } from "../util/text/clip-text.ts";
import { type Fields, list, mapOf, type RecordOf, readFields, record } from "./shapes/collection-shapes.ts";
import { describeNode, linesNote } from "./shapes/node-problems.ts";
import { integer, text, writtenText } from "./shapes/scalar-shapes.ts";
import { type ReadContext, refined, type Shape } from "./shapes/shape.ts";
import { serverAddress } from "./shapes/text-shapes.ts";
import { limitsShape } from "./worker-keys.ts";
import { parseYaml } from "./yaml/parse-yaml.ts";

const login = {
  issuer: { shape: serverAddress, description: "The OAuth server, which says its addresses itself." },
  authorization_url: { shape: serverAddress, description: "In place of `issuer`: where the user logs in." },
  token_url: { shape: serverAddress, description: "In place of `issuer`: where tokens come from." },
  device_authorization_url: { shape: serverAddress, description: "Where a login by device code begins." },
  client_id: { shape: text(), required: true, description: "The public client that llm-do is there." },
  scopes: { shape: list(text()), description: "What is asked for." },
  parameters: { shape: mapOf(writtenText()), description: "Further parameters of the request, such as `audience`." },
  address: { shape: serverAddress, required: true, description: "Where the provider is: the token goes to this origin only." },
  port: { shape: integer({ min: 1 }), description: "The port of this machine that the server redirects to. By default any." },
} as const;

export type LoginSyntax = RecordOf<typeof login>;

const loginShape: Shape<LoginSyntax> = refined(record(login), (value, node, { path, report }) => {
  if (value.issuer || ((value.authorization_url || value.device_authorization_url) && value.token_url)) return value;
  return report("missing-key", {
    message: `\`${path}\` needs \`issuer\`, or \`authorization_url\` and \`token_url\``,
    span: node.span,
  });
});

const hooks = {
  question: { shape: serverAddress, description: "Told of each submitted run that waits for answers." },
  end: { shape: serverAddress, description: "Told of each submitted run that ended." },
} as const;

/** An alias holds no colon or slash: it hides no model of a provider. */
export function isAlias(name: string): boolean {
  return /^[a-z][a-z0-9._-]{0,63}$/i.test(name);
}

export const userConfigKeys = {
  model: { shape: text(), description: "The model of every worker for which nothing else names one." },
  aliases: {
    shape: mapOf(text(), {
      checkName: (value, { span }, { report }) => {
        if (isAlias(value)) return true;
        report("invalid-name", { message: `\`${clipText(value, 80)}\` cannot be the alias of a model`, span });
        return false;
      },
    }),
    description: "Names for models, which can be written wherever a model can.",
  },
  limits: { shape: limitsShape, description: "Limits of every run; of those that a manifest has, too, the smaller holds." },
  verbosity: {
    shape: integer({ min: 0 }),
    description: "As `-v` in every run that prints lines: 1 shows calls, approvals and usage, 2 also text as it comes.",
  },
  store: { shape: text(), description: "The folder or database of records, as `--store` and `LLM_DO_STORE` name it." },
  hooks: {
    shape: record(hooks),
    description: "Addresses to which executors post what becomes of runs, signed with LLM_DO_HOOK_KEY.",
  },
  logins: { shape: mapOf(loginShape), description: "OAuth servers for `llm-do oauth login`, by the name of the provider." },
} satisfies Fields;

/** The syntax tree of the user's `config.yaml`. */
export type UserConfigFile = RecordOf<typeof userConfigKeys>;

export interface ParsedUserConfig {
  readonly file: UserConfigFile;
  readonly diagnostics: readonly Diagnostic[];
}

/** Reads `config.yaml`. Reports all mistakes; never throws. */
export function parseUserConfig(source: Source): ParsedUserConfig {
  const diagnostics = new DiagnosticList();
  const context: ReadContext = { path: "", report: diagnostics.report, elsewhere: noteOnKey };
  const start = source.text.startsWith("\uFEFF") ? 1 : 0;
  const root = parseYaml({ source, start, end: source.text.length }, diagnostics.report);
  const isEmpty = root.kind === "scalar" && source.text.slice(start).replace(/#.*$/gm, "").trim() === "";
  if (root.kind !== "map" && root.kind !== "unreadable" && !isEmpty) {
    const message = `the configuration has to be a map, not ${describeNode(root)}`;
    context.report("manifest-not-map", { message, span: root.span, note: linesNote(root) });
  }
  const file = root.kind === "map" ? readFields(root, userConfigKeys, context) : undefined;
  return { file: file ?? {}, diagnostics: diagnostics.toArray() };
}

/** Keys of providers are kept in a file of their own. */
function noteOnKey(key: string): string | undefined {
  if (!/key|token|secret|credential/i.test(key)) return undefined;
  const [, provider = ""] = /^(\w+?)_(?:api_)?(?:key|token)$/i.exec(key.toLowerCase()) ?? [];
  return `keep a key with \`llm-do keys set ${["", "api", "provider"].includes(provider) ? "PROVIDER" : provider}\``;
}
