import { toolset } from "llm-do";

export const db = toolset({
  name: "db",
  tools: () => {
    throw new Error("no tools");
  },
});
