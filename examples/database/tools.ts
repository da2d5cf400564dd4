import { DatabaseSync } from "node:sqlite";
import { blocked, needsApproval, preApproved, ToolFailure, tool, toolset } from "llm-do";
import { z } from "zod";

const changes = "CREATE TABLE IF NOT EXISTS changes (id TEXT PRIMARY KEY, rows INTEGER)";

/** A connection for one piece of work, read-only where only reading is meant: SQLite sees to that, whatever the statement says. */
function withDatabase<T>(url: string, readOnly: boolean, work: (database: DatabaseSync) => T): T {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(url, { readOnly });
    return work(database);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.message : String(thrown);
    throw new ToolFailure({ type: "tool_failed", error });
  } finally {
    database?.close();
  }
}

/** A statement that names no rows means all of them. */
function touchesAll(sql: string): boolean {
  return /^\s*(?:drop|alter)\b/i.test(sql) || (/^\s*(?:delete|update)\b/i.test(sql) && !/\bwhere\b/i.test(sql));
}

export const database = toolset({
  name: "database",
  config: z.object({ url: z.string().min(1), readonly: z.boolean().default(false) }),
  tools: ({ url }) => [
    tool({
      name: "query",
      description: "Run a SELECT, and give at most 100 rows.",
      input: z.object({ sql: z.string() }),
      sideEffect: false,
      run: ({ sql }) => withDatabase(url, true, (db) => db.prepare(sql).all().slice(0, 100)),
    }),
    tool({
      name: "execute",
      description: "Run one statement that changes rows. `id` names the change: one with an id that is there is not made again.",
      input: z.object({ sql: z.string(), id: z.string().min(1) }),
      run: ({ sql, id }) =>
        withDatabase(url, false, (db) => {
          db.exec(changes);
          db.exec("BEGIN IMMEDIATE");
          try {
            // The change and the note of it are one transaction: both are there, or neither.
            const isNew = db.prepare("INSERT OR IGNORE INTO changes (id) VALUES (?)").run(id).changes === 1;
            const rows = isNew ? Number(db.prepare(sql).run().changes) : 0;
            if (isNew) db.prepare("UPDATE changes SET rows = ? WHERE id = ?").run(rows, id);
            db.exec("COMMIT");
            return { rows, ...(isNew ? {} : { note: "the change had been made before" }) };
          } catch (thrown) {
            db.exec("ROLLBACK");
            throw thrown;
          }
        }),
      // After a crash: looks for the note by its key. Not read-only: SQLite rolls back what the crash left half done.
      reconcile: async ({ canonicalArgs: { id } }) =>
        withDatabase(url, false, (db) => {
          if (!db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'changes'").get()) return "not-done";
          const made = db.prepare("SELECT rows FROM changes WHERE id = ?").get(String(id));
          return made ? { done: { rows: Number(made["rows"]) } } : "not-done";
        }),
    }),
  ],
  needsApproval: ({ tool, args, config }) => {
    const sql = String(args["sql"] ?? "");
    if (tool === "query") return preApproved("it only reads");
    if (config.readonly) return blocked("this worker only reads");
    return touchesAll(sql) ? needsApproval("it is for all rows", "rule") : needsApproval("it changes rows");
  },
  describeCall: ({ tool, args }) => `${tool === "query" ? "Look up" : "Change"}: ${String(args["sql"])}`,
});
