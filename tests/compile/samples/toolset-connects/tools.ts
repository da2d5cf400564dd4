import { toolset } from "llm-do";

export const notes = toolset({
  name: "notes",
  connect: () => Promise.reject(new Error("nothing is connected when a program is compiled")),
});
