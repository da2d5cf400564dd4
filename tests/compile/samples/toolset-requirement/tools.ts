import { toolset } from "llm-do";

const tools = () => [];
export const fetching = toolset({ name: "fetching", requires: ["network"], tools });
export const starting = toolset({ name: "starting", requires: ["commands"], tools });
export const extending = toolset({ name: "extending", requires: ["tools.ts"], tools });
