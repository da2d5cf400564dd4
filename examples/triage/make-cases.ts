// Writes triage.cases.jsonl: 400 calls as they would have been recorded on another day. The same file each time.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { answer } from "./scripted.ts";

const things = [
  "The export",
  "The calendar",
  "The invoice page",
  "The search",
  "The upload",
  "The phone app",
  "The backup",
  "The report",
];
const bugs = [
  "hangs at {n} percent",
  "crashes after {n} rows",
  "fails with the error {n}",
  "shows an error after {n} seconds",
  "is broken since build {n}",
];
const questions = ["How do I move {n} files into", "Where can I see the {n} last changes of", "May {n} people use"];
const wishes = [
  "Please add a list of {n} favourites to",
  "It would be nice to have {n} colours in",
  "I miss a button for {n} copies in",
];
const ends = [" We cannot go on working.", " It has to be there today.", "", "", ""];

/** Numbers from 0 to below 1 (Mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const draw = random(30);
const oneOf = (list: readonly string[]) =>
  (list[Math.floor(draw() * list.length)] ?? "").replace("{n}", String(2 + Math.floor(draw() * 97)));

function message(): string {
  const [kind, thing, end] = [draw(), oneOf(things), oneOf(ends)];
  if (kind < 0.45) return `${thing} ${oneOf(bugs)}.${end}`;
  const object = thing.toLowerCase();
  return kind < 0.75 ? `${end.trim()} ${oneOf(questions)} ${object}?`.trim() : `${oneOf(wishes)} ${object}.`;
}

const messages = new Set<string>();
while (messages.size < 400) messages.add(message());
const lines = [...messages].map((text) => {
  const shared = { worker: "triage", input: { message: text }, output: answer(text, "Friday") };
  return JSON.stringify({ ...shared, by: "prompt", ms: 400 + Math.floor(draw() * 900) });
});
writeFileSync(join(import.meta.dirname, "triage.cases.jsonl"), `${lines.join("\n")}\n`);
