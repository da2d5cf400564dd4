import { tool } from "llm-do";
import { hello } from "./hello.js";

export const greet = tool({ input: { type: "object" }, run: () => hello });
