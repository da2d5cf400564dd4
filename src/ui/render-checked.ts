import type { FactOf } from "../protocol/fact.ts";

type Checked = Pick<FactOf<"checked">, "agrees" | "different" | "skipped">;

/** Says how the prompt of a worker agreed with its code. */
export function renderChecked({ agrees, different = [], skipped }: Checked): string {
  if (skipped !== undefined) return `was not checked: ${skipped}`;
  if (agrees === undefined) return "was answered by its prompt, too: nothing of the output can be compared";
  return agrees
    ? "agrees with its prompt"
    : `differs from its prompt in ${different.map((path) => path || "its output").join(", ")}`;
}
