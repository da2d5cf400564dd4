import { type Field, type Fields, factFields } from "../../src/journal/fact-fields.ts";
import type { JournalEntry } from "../../src/protocol/fact.ts";
import type { RecordedEntry } from "./poisoned-record.ts";

/** Moves the cursor, sets the clipboard, begins a line of its own, and turns the direction of writing, each in the middle of words. */
export const escapes = "a\u001b[2Jb\u001b]52;c;cm0=\u0007c\r\nFORGED d\u009b31me\u202ef\u2028FORGED g\u007f";

/** What a terminal would obey, and lines that a field began. */
export function harmIn(text: string): readonly string[] {
  return [
    ...(text.match(/[^\P{Cc}\n\t]|[\u202A-\u202E\u2028\u2029\u2066-\u2069]/gu) ?? []),
    ...(text.match(/^\s*FORGED.*$/gm) ?? []),
  ];
}

/** Values of fields that renderers choose by. The others are a plain text. */
const usual: Readonly<Record<string, string>> = {
  ...{ callPath: "main", key: "1", kind: "tool", path: "main/0.x", mode: "prompt", onDenied: "return", stopReason: "failed" },
  ...{ source: "person", sha256: "0".repeat(64), onUnanswered: "hold", remember: "run" },
};

/** A fact with all of its fields. */
export function usualFact(type: keyof typeof factFields): RecordedEntry {
  const types: Readonly<Record<string, string>> = { verdict: "ask", decision: "approve", outcome: "value", answer: "approve" };
  const fill = (fields: Fields): Record<string, unknown> =>
    Object.fromEntries(
      Object.entries(fields).map(([written, field]) => {
        const name = written.replace(/\?$/, "");
        if (typeof field === "object") return [name, { ...fill(field), ...(types[name] ? { type: types[name] } : {}) }];
        return [name, usualValue(name, field)];
      }),
    );
  return { ...fill(factFields[type]), type };
}

function usualValue(name: string, field: Exclude<Field, Fields>): unknown {
  switch (field.replace("content ", "")) {
    case "string":
      return usual[name] ?? "plain";
    case "number":
      return 1;
    case "boolean":
      return true;
    case "numbers":
      return { turns: 1 };
    case "places":
      return [];
    case "strings":
      return ["plain"];
    case "files":
      return [{ type: "file", name: "plain", mediaType: "text/plain", bytes: 1, sha256: "0".repeat(64) }];
    case "parts":
      return [{ type: "text", text: "plain" }];
    case "messages":
      return [{ role: "user", parts: [{ type: "text", text: "plain" }] }];
    case "dropped":
      return [{ tool: "plain", turn: 1, tokens: 1 }];
    default:
      if (name === "value") return { ok: true, value: { plain: "plain" } };
      return { plain: "plain", request: { tool: "plain", description: "plain", args: {}, why: "plain" } };
  }
}

/** Each way to put the text in the place of one text in a value, however deep, names of members included. */
export function poisoned(value: unknown, text: string): readonly unknown[] {
  if (typeof value === "string") return [text];
  if (Array.isArray(value)) return value.flatMap((member, at) => poisoned(member, text).map((other) => value.with(at, other)));
  if (typeof value !== "object" || value === null) return [];
  const named = Object.keys(value).length > 0 && "plain" in value ? [{ ...value, [text]: "x" }] : [];
  const below = Object.entries(value).flatMap(([name, member]) =>
    name === "type" && "callPath" in value ? [] : poisoned(member, text).map((other) => ({ ...value, [name]: other })),
  );
  return [...named, ...below];
}

export function toEntries(facts: readonly unknown[]): readonly JournalEntry[] {
  return facts.map((fact, n) => ({ v: 2, n, time: 1_700_000_000_000, ...(fact as object) }) as unknown as JournalEntry);
}
