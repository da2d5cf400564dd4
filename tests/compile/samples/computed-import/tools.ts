import { tool } from "llm-do";

export const greet = tool({
  input: { type: "object" },
  run: async ({ language }) => (await import(`./${String(language)}.ts`)).text,
});
export const other = async (name: string) => import(name);
