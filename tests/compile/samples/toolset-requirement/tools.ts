import { toolset } from "llm-do";

const tools = () => [];
export const fetching = toolset({ name: "fetching", requires: ["network"], tools });
export const extending = toolset({ name: "extending", requires: ["tools.ts"], tools });
