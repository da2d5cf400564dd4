import type { Provider } from "../provider.ts";

/** `scripted:FILE`: a file plays the model. Needs no key and no network. */
export const scriptedProvider: Provider = {
  name: "scripted",
  description: "A TypeScript, JavaScript, YAML or JSON file that plays the model",
  keyVariables: [],
  isFree: true,
  families: /\.(ts|js|mjs|ya?ml|json)$/i,
  serverTools: {
    web_search: ["max_uses", "allowed_domains", "blocked_domains"],
    web_fetch: ["max_uses", "allowed_domains", "blocked_domains"],
    code_execution: [],
    image_generation: [],
  },
  async create(path, environment) {
    const { loadScript } = await import("./load-script.ts");
    const { createScriptedModel } = await import("./create-scripted-model.ts");
    return createScriptedModel(`scripted:${path}`, await loadScript(path, environment));
  },
};
