import type { LanguageModelV4ProviderTool } from "@ai-sdk/provider";
import type { ServerTool } from "../../protocol/tool.ts";
import * as results from "../library/result-files.ts";
import { createPackagedProvider, type PackagedFacts } from "./create-packaged-provider.ts";

const imagesAndPdf = ["image/*", "application/pdf"];
const media = [...imagesAndPdf, "audio/*", "video/*"];

/** Claude from 3.5 (its second version) on, and Nova. */
const bedrockModelsWithCache =
  /anthropic\.claude-(?:(?!instant|v\d)[a-z]|3-7|3-5-haiku|3-5-sonnet-20241022)|amazon\.nova-(?:micro|lite|pro|premier)/;

const rows: readonly PackagedFacts[] = [
  {
    name: "google",
    description: "Gemini models (Google AI)",
    package: "@ai-sdk/google@4",
    export: "createGoogle",
    keyVariables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"],
    defaultBaseUrl: "https://generativelanguage.googleapis.com/v1beta",
    families: /^gemini/i,
    wire: "google",
    options: "googleOptions",
    attachments: media,
    resultFiles: results.media,
    serverTools: { web_search: [], web_fetch: [], code_execution: [] },
    freeTools: ["web_fetch", "code_execution"],
    toServerTool: toGoogleTool,
  },
  {
    name: "vertex",
    description: "Gemini models on Google Cloud (Vertex AI), in GOOGLE_VERTEX_PROJECT",
    package: "@ai-sdk/google-vertex@5",
    export: "createGoogleVertex",
    optionsKey: "googleVertex",
    priceTable: "google",
    keyVariables: ["GOOGLE_VERTEX_API_KEY"],
    defaultBaseUrl: toVertexUrl,
    addressHint: "GOOGLE_VERTEX_PROJECT and GOOGLE_VERTEX_LOCATION, or GOOGLE_VERTEX_API_KEY",
    findsCredentials: true,
    wire: "google",
    options: "googleOptions",
    attachments: media,
    resultFiles: results.media,
  },
  {
    name: "mistral",
    description: "Mistral models",
    package: "@ai-sdk/mistral@4",
    export: "createMistral",
    keyVariables: ["MISTRAL_API_KEY"],
    defaultBaseUrl: "https://api.mistral.ai/v1",
    families: /^(ministral|magistral|codestral|pixtral|devstral)/i,
    wire: "chat",
    options: "mistralOptions",
    attachments: imagesAndPdf,
  },
  {
    name: "groq",
    description: "Open models on Groq",
    package: "@ai-sdk/groq@4",
    export: "createGroq",
    keyVariables: ["GROQ_API_KEY"],
    defaultBaseUrl: "https://api.groq.com/openai/v1",
    // It constrains no answer that is streamed, and those of few models.
    outputByTool: true,
    wire: "chat",
    options: "groqOptions",
    attachments: ["image/*"],
    resultFiles: results.chatPictures,
  },
  {
    name: "xai",
    description: "Grok models (xAI)",
    package: "@ai-sdk/xai@5",
    export: "createXai",
    priceTable: "x-ai",
    keyVariables: ["XAI_API_KEY"],
    defaultBaseUrl: "https://api.x.ai/v1",
    families: /^grok/i,
    wire: "responses",
    defaults: { store: false },
    outputBesideTools: true,
    options: "xaiOptions",
    attachments: ["image/*"],
    resultFiles: results.xaiPictures,
    serverTools: { web_search: ["allowed_domains", "blocked_domains"], code_execution: [] },
    toServerTool: toXaiTool,
  },
  {
    name: "deepseek",
    description: "DeepSeek models",
    package: "@ai-sdk/deepseek@3",
    export: "createDeepSeek",
    keyVariables: ["DEEPSEEK_API_KEY"],
    defaultBaseUrl: "https://api.deepseek.com",
    wire: "chat",
    options: "deepseekOptions",
    attachments: [],
  },
  {
    name: "azure",
    description: "OpenAI's models on Azure: the name is that of the deployment",
    package: "@ai-sdk/azure@4",
    export: "createAzure",
    keyVariables: ["AZURE_API_KEY"],
    defaultBaseUrl: toAzureUrl,
    addressHint: "AZURE_RESOURCE_NAME",
    wire: "responses",
    defaults: { store: false },
    outputBesideTools: true,
    options: "openaiOptions",
    attachments: imagesAndPdf,
    resultFiles: results.picturesAndPdf,
  },
  {
    name: "bedrock",
    description: "Models on Amazon Bedrock, in AWS_REGION",
    package: "@ai-sdk/amazon-bedrock@5",
    export: "createAmazonBedrock",
    optionsKey: "amazonBedrock",
    priceTable: "aws",
    keyVariables: ["AWS_BEARER_TOKEN_BEDROCK"],
    signing: {
      accessKeyId: "AWS_ACCESS_KEY_ID",
      secretAccessKey: "AWS_SECRET_ACCESS_KEY",
      sessionToken: "AWS_SESSION_TOKEN",
      region: "AWS_REGION",
    },
    defaultBaseUrl: toBedrockUrl,
    addressHint: "AWS_REGION",
    cacheMark: { option: "cachePoint", value: { type: "default" }, models: bedrockModelsWithCache },
    wire: "bedrock",
    options: "bedrockOptions",
    attachments: imagesAndPdf,
    resultFiles: results.picturesAndPdf,
  },
  {
    name: "cohere",
    description: "Command models (Cohere)",
    package: "@ai-sdk/cohere@4",
    export: "createCohere",
    keyVariables: ["COHERE_API_KEY"],
    defaultBaseUrl: "https://api.cohere.com/v2",
    families: /^(command|c4ai)/i,
    wire: "cohere",
    options: "cohereOptions",
    attachments: ["image/*"],
  },
  {
    name: "together",
    description: "Open models on Together AI",
    package: "@ai-sdk/togetherai@3",
    export: "createTogetherAI",
    optionsKey: "togetherai",
    outputByTool: true,
    keyVariables: ["TOGETHER_API_KEY"],
    defaultBaseUrl: "https://api.together.xyz/v1",
    wire: "chat",
    options: "hostedOptions",
    attachments: ["image/*"],
    resultFiles: results.chatPictures,
  },
  {
    name: "fireworks",
    description: "Open models on Fireworks AI",
    package: "@ai-sdk/fireworks@3",
    export: "createFireworks",
    keyVariables: ["FIREWORKS_API_KEY"],
    defaultBaseUrl: "https://api.fireworks.ai/inference/v1",
    wire: "chat",
    options: "hostedOptions",
    attachments: ["image/*"],
    resultFiles: results.chatPictures,
  },
  {
    name: "cerebras",
    description: "Open models on Cerebras",
    package: "@ai-sdk/cerebras@3",
    export: "createCerebras",
    keyVariables: ["CEREBRAS_API_KEY"],
    defaultBaseUrl: "https://api.cerebras.ai/v1",
    wire: "chat",
    options: "hostedOptions",
    attachments: [],
  },
  {
    name: "perplexity",
    description: "Sonar models (Perplexity), which search the web for each answer and take no tools",
    package: "@ai-sdk/perplexity@4",
    export: "createPerplexity",
    keyVariables: ["PERPLEXITY_API_KEY"],
    defaultBaseUrl: "https://api.perplexity.ai",
    families: /^sonar/i,
    wire: "chat",
    takesNoTools: true,
    reportsCost: true,
    options: "perplexityOptions",
    attachments: imagesAndPdf,
  },
];

/** Providers whose package is not part of llm-do, but for Google's. */
export const packagedProviders = rows.map(createPackagedProvider);

/** Returns what is known of a package, whatever version of it is installed. */
export function findPackageFacts(specifier: string): PackagedFacts | undefined {
  return rows.find((row) => row.package.slice(0, row.package.lastIndexOf("@")) === specifier);
}

type Variable = (name: string) => string | undefined;

function toAzureUrl(variable: Variable): string | undefined {
  const resource = variable("AZURE_RESOURCE_NAME");
  return isLabel(resource) ? `https://${resource}.openai.azure.com/openai` : undefined;
}

function toBedrockUrl(variable: Variable): string | undefined {
  const region = variable("AWS_REGION");
  return isLabel(region) ? `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith("cn-") ? ".cn" : ""}` : undefined;
}

function toVertexUrl(variable: Variable): string | undefined {
  if (variable("GOOGLE_VERTEX_API_KEY")) return "https://aiplatform.googleapis.com/v1/publishers/google";
  const [project, location] = [variable("GOOGLE_VERTEX_PROJECT"), variable("GOOGLE_VERTEX_LOCATION")];
  if (project === undefined || !isLabel(location)) return undefined;
  const host = location === "global" ? "aiplatform.googleapis.com" : `${location}-aiplatform.googleapis.com`;
  return `https://${host}/v1beta1/projects/${encodeURIComponent(project)}/locations/${location}/publishers/google`;
}

/** A part of a host name: a variable cannot lead the key to another host. */
function isLabel(text: string | undefined): text is string {
  return text !== undefined && /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(text);
}

function toGoogleTool({ type }: ServerTool): LanguageModelV4ProviderTool {
  const ids = { web_search: "google_search", web_fetch: "url_context", code_execution: "code_execution" } as const;
  if (type === "image_generation") throw new Error("invariant: Google has no tool for pictures");
  return { type: "provider", id: `google.${ids[type]}`, name: type, args: {} };
}

function toXaiTool({ type, allowed_domains, blocked_domains }: ServerTool): LanguageModelV4ProviderTool {
  if (type === "code_execution") return { type: "provider", id: "xai.code_execution", name: type, args: {} };
  const args = { allowedDomains: allowed_domains, excludedDomains: blocked_domains };
  return { type: "provider", id: "xai.web_search", name: type, args };
}
