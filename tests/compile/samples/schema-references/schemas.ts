import { z } from "zod";

export const Pitch = z.object({ company: z.string(), slides: z.number().optional() });
export const Verdict = { type: "object", properties: { verdict: { enum: ["go", "pass"] } }, required: ["verdict"] };
