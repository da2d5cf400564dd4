import { expect, it } from "vitest";
import type { RunEvent, RunEventBody } from "../protocol/event.ts";
import { noUsage } from "../protocol/usage.ts";
import { renderProgress } from "./headless/render-progress.ts";
import { StreamedText } from "./headless/streamed-text.ts";
import { createRunView, foldEvent } from "./run-view.ts";
import { drawScreen } from "./tui/draw-screen.ts";
import { TextField } from "./tui/text-field.ts";
import { Transcript } from "./tui/transcript.ts";

let time = 1000;
function event(callPath: string, body: RunEventBody): RunEvent {
  return { v: 1, runId: "r", callPath, depth: 0, time: time++, ...body };
}

const start = () => event("main", { type: "run-start", program: "p", entry: "main", mode: "prompt" });
const spent = { ...noUsage, requests: 1, inputTokens: 10, outputTokens: 2 };
const turnEnd = (path: string, text: string, finish: "stop" | "paused" = "stop") =>
  event(path, { type: "turn-end", turn: 1, usage: spent, text, finish });
const call = (path: string) => event(path, { type: "tool-call", tool: "read_file", args: { path: "a.txt" } });
const result = (path: string) =>
  event(path, { type: "tool-result", tool: "read_file", result: { ok: true, value: "a" }, milliseconds: 5 });

const layout = { columns: 60, rows: 24, style: (_: readonly string[], text: string) => text };
const foot = { model: undefined, usage: noUsage, limits: {}, elapsed: undefined, calledTools: 0 };

function draw(transcript: Transcript): readonly string[] {
  const sight = { open: transcript.open(layout), panel: undefined, hint: undefined, field: new TextField(), foot, now: time };
  return drawScreen({ view: transcript.view, ...sight }, layout).rows;
}

it("keeps the calls in flight, adds up what they spend, and returns what has settled", () => {
  const view = createRunView();
  const settled = [
    start(),
    event("main", { type: "call-start", kind: "worker", name: "main", model: "test:m" }),
    call("main/0.helper"),
    event("main/0.helper", { type: "call-start", kind: "worker", name: "helper", model: "test:m" }),
    turnEnd("main/0.helper", "of a helper"),
    call("main/0.helper/0.read_file"),
  ].flatMap((one) => foldEvent(view, one));
  expect(settled).toEqual([]);
  expect([...view.calls.keys()]).toEqual(["main", "main/0.helper", "main/0.helper/0.read_file"]);
  expect(view.calls.get("main")?.usage).toEqual(spent);
  expect(renderProgress(view, { now: view.startedAt + 12_000, columns: 80 })).toBe(
    "main > helper#0 > read_file#0: 12 s, 1 request, 12 tokens",
  );
  expect(foldEvent(view, result("main/0.helper/0.read_file"))).toMatchObject([{ type: "card", card: { tool: "read_file" } }]);
  expect(foldEvent(view, turnEnd("main", "the end"))).toEqual([{ type: "text", text: "the end" }]);
  foldEvent(view, event("main", { type: "run-end", stopReason: "done", usage: spent }));
  expect(view.calls.size).toBe(0);
});

it("streams each text of the entry once, and says where it begins anew", () => {
  let written = "";
  const streamed = new StreamedText({
    write: (text) => {
      written += text;
    },
    onVoid: (reason) => {
      written += `(${reason})\n`;
    },
  });
  const delta = (path: string, text: string) => event(path, { type: "text-delta", text });
  const retry = event("main", {
    ...{ type: "retry", attempt: 1, maxAttempts: 3, delayMilliseconds: 1, reason: "overloaded", afterOutput: true },
  } as const);
  const events = [
    start(),
    delta("main", "Hal"),
    delta("main/0.helper", "other"),
    retry,
    delta("main", "Hello"),
    turnEnd("main", "Hello"),
  ];
  for (const one of [...events, turnEnd("main", "not streamed\n"), turnEnd("main", "a", "paused"), turnEnd("main", "b")])
    streamed.add(one);
  expect(written).toBe("Hal\n(overloaded)\nHello\nnot streamed\na\nb\n");
  expect(streamed.last).toBe("ab");
});

it("draws bounded frames, and keeps nothing of what has settled, however many events there are", () => {
  const transcript = new Transcript(createRunView(), { showsText: true });
  transcript.add(start());
  const frames = 20;
  for (let frame = 0; frame < frames; frame++) {
    for (let index = 0; index < 500; index++) {
      const path = `main/${frame * 500 + index}.read_file`;
      transcript.add(call(path));
      transcript.add(result(path));
      transcript.add(event("main", { type: "text-delta", text: "word " }));
    }
    expect(transcript.settle(layout).length).toBeLessThan(250);
    expect(draw(transcript).length).toBeLessThan(24);
  }
  expect(transcript.view.calls.size).toBe(1);
  expect(transcript.open(layout).join("").length).toBeLessThan(6000);
  expect(transcript.settle(layout)).toEqual([]);
});

it("draws what is left of a tree in a terminal that is too low for it", () => {
  const transcript = new Transcript(createRunView(), { showsText: true });
  for (const one of [start(), ...Array.from({ length: 300 }, (_, index) => call(`main/${index}.read_file`))]) transcript.add(one);
  const rows = draw(transcript);
  expect(rows.length).toBeLessThan(24);
  expect(rows.join("\n")).toContain("… and 293 more calls");
});

it("shows a hint that is wider than the terminal in two rows", () => {
  const hint = "This run takes no messages (--chat holds a conversation); /help lists commands";
  const sight = { open: [], panel: undefined, hint, field: undefined, foot, now: time };
  expect(drawScreen({ view: createRunView(), ...sight }, layout).rows.slice(0, 2)).toEqual([
    "This run takes no messages (--chat holds a conversation); ",
    "/help lists commands",
  ]);
});
