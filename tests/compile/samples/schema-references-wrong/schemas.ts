import { z } from "zod";

export const Pitch = 1;
export const Text = z.string();
export const Undescribable = z.object({ at: z.date() });
export const Bare = { "~standard": { version: 1, vendor: "mine", validate: (value: unknown) => ({ value }) } };
export const Wrong = { type: "objekt" };
export const number = 7;
