import { ToolFailure, tool } from "llm-do";
import { z } from "zod";

/** Numbers come out of code: a model would make some of them up. */
export const column_stats = tool({
  description: "Give count, mean, and the smallest and largest value of a column of a CSV file, with the row of the largest.",
  input: z.object({ path: z.string(), column: z.string() }),
  sideEffect: false,
  run: async ({ path, column }, runtime) => {
    const { bytes } = await runtime.scopes.read(path);
    const [head = [], ...rows] = new TextDecoder()
      .decode(bytes)
      .trim()
      .split("\n")
      .map((line) => line.split(",").map((cell) => cell.trim()));
    const index = head.indexOf(column);
    if (index < 0)
      throw new ToolFailure({ type: "not_found", error: `there is no column ${column}`, hint: `one of: ${head.join(", ")}` });
    const values = rows.map((row) => Number(row[index])).filter(Number.isFinite);
    if (values.length === 0) throw new ToolFailure({ type: "invalid_arguments", error: `${column} holds no numbers` });
    const max = Math.max(...values);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    return {
      ...{ count: values.length, mean: Math.round(mean * 100) / 100, min: Math.min(...values), max },
      row: rows[values.indexOf(max)]?.join(", ") ?? "",
    };
  },
});

/** Leaves the machine in the end, so it asks: nothing pre-approves it. Here an outbox stands for the mail server. */
export const notify = tool({
  description: "Send one line to the team.",
  input: z.object({ line: z.string().max(200) }),
  run: async ({ line }, runtime) => {
    await runtime.scopes.append("outbox/team.txt", new TextEncoder().encode(`${line}\n`));
    return "sent";
  },
});
