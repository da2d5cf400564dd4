import { describe, expect, it } from "vitest";
import type { RunEvent, RunEventBody } from "../protocol/event.ts";
import { eventRecorder } from "./event-recorder.ts";

const start: RunEventBody = { type: "run-start", program: "p", entry: "main", mode: "prompt" };

function record(...bodies: readonly RunEventBody[]) {
  const recorder = eventRecorder();
  for (const body of bodies) recorder({ v: 1, runId: "r", callPath: "main" as RunEvent["callPath"], depth: 0, time: 0, ...body });
  return recorder;
}

const progress = (message: string): RunEventBody => ({ type: "progress", message });

describe("eventRecorder", () => {
  it("keeps events in order and selects them by type", () => {
    const events = record(start, progress("a"), progress("b"));
    expect(events.events).toHaveLength(3);
    expect(events.all("progress").map(({ message }) => message)).toEqual(["a", "b"]);
    expect(events.only("run-start").entry).toBe("main");
  });

  it("rejects a type that came twice or never", () => {
    const events = record(start, progress("a"), progress("b"));
    expect(() => events.only("progress")).toThrow("expected exactly one progress; the events are: run-start, progress, progress");
    expect(() => eventRecorder().only("run-end")).toThrow("expected exactly one run-end; the events are: none");
  });

  it("asserts order and absence", () => {
    const events = record(start, progress("a"), { type: "warning", message: "w" });
    events.assertOrder("run-start", "warning");
    events.assertNone("run-end", "retry");
    expect(() => events.assertOrder("warning", "run-start")).toThrow("expected warning, then run-start; the events are:");
    expect(() => events.assertNone("retry", "warning")).toThrow("expected no retry and no warning; the events are:");
  });
});
