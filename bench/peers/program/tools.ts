import { tool, toolset } from "llm-do";
import { z } from "zod";
import { lookupDescription as description, lookup } from "../arm.ts";

const about = { name: "lookup", description, input: z.object({ key: z.string() }), approval: "pre-approved" } as const;
const run = ({ key }: { key: string }) => lookup(key);

/** One that may have effects: its start is on disk before it runs. */
export const withEffects = toolset({ name: "with_effects", tools: () => [tool({ ...about, run })] });
export const pure = toolset({ name: "pure", tools: () => [tool({ ...about, sideEffect: false, run })] });
