import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { RunEvent, RunEventBody } from "../../protocol/event.ts";
import { noUsage } from "../../protocol/usage.ts";
import { createRunView } from "../../ui/run-view.ts";
import { drawScreen } from "../../ui/tui/draw-screen.ts";
import { TextField } from "../../ui/tui/text-field.ts";
import { Transcript } from "../../ui/tui/transcript.ts";
import { Frames } from "./frames.ts";
import { LiveRegion } from "./live-region.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const event = (callPath: string, body: RunEventBody): RunEvent => ({ v: 1, runId: "r", callPath, depth: 0, time: 1, ...body });

test("10,000 events a second are drawn in twenty frames a second, each of bounded size, and leave nothing behind", () => {
  const layout = { columns: 80, rows: 24, style: (_: readonly string[], text: string) => text };
  const written: string[] = [];
  const region = new LiveRegion({ columns: 80, rows: 24, write: (text) => written.push(text) });
  const transcript = new Transcript(createRunView(), { showsText: true });
  const foot = { model: undefined, usage: noUsage, limits: {}, elapsed: undefined, calledTools: 0 };
  const frames = new Frames(() => {
    const printed = transcript.settle(layout);
    const sight = { open: transcript.open(layout), panel: undefined, hint: undefined, field: new TextField(), foot, now: 1 };
    region.draw(drawScreen({ view: transcript.view, ...sight }, layout), printed);
  });
  const add = (one: RunEvent) => {
    transcript.add(one);
    frames.wake();
  };
  add(event("main", { type: "run-start", program: "p", entry: "main", mode: "prompt" }));
  const sizes: number[] = [];
  for (let second = 0; second < 3; second++) {
    for (let index = 0; index < 2500; index++) {
      const path = `main/${second * 2500 + index}.read_file`;
      add(event(path, { type: "tool-call", tool: "read_file", args: { path: "a.txt" } }));
      add(event(path, { type: "progress", message: "half" }));
      add(event("main", { type: "text-delta", text: "word " }));
      add(event(path, { type: "tool-result", tool: "read_file", result: { ok: true, value: "a" }, milliseconds: 5 }));
      vi.advanceTimersByTime(0.4);
    }
    sizes.push(written.join("").length);
    expect(written.length).toBeLessThanOrEqual(21);
    expect(Math.max(...written.map((frame) => frame.length))).toBeLessThan(24 * 80 + 110 * 80);
    written.length = 0;
  }
  expect(transcript.view.calls.size).toBe(1);
  expect(Math.max(...sizes) / Math.min(...sizes)).toBeLessThan(1.5);
});

test("a frame that was drawn already is not drawn again", () => {
  let drawn = 0;
  const frames = new Frames(() => drawn++);
  frames.wake();
  frames.cancel();
  vi.advanceTimersByTime(1000);
  expect(drawn).toBe(0);
  frames.wake();
  vi.advanceTimersByTime(1000);
  expect(drawn).toBe(1);
});
