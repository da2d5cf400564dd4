import { z } from "zod";

export const Pitch = z.object({ company: z.string(), slides: z.number().optional() });
export const Verdict = { type: "object", properties: { verdict: { enum: ["go", "pass"] } }, required: ["verdict"] };
export const Text = z.string();
export const Undescribable = z.object({ at: z.date() });
export const Bare = { "~standard": { version: 1, vendor: "mine", validate: (value: unknown) => ({ value }) } };
export const Wrong = { type: "objekt" };
export const number = 7;
