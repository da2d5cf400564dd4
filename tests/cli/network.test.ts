import { describe, expect, it } from "vitest";
import { chat } from "../models/dialects.ts";
import { sendJson, startServer } from "../models/local-server.ts";
import { runCli, writeProgram } from "./run-cli.ts";

const program = (settings = "") => writeProgram({ "main.worker": `---\n${settings}---\nAnswer.\n` });

describe("a provider", () => {
  it("that is silent for longer than the worker waits has failed, and each attempt counts", async () => {
    await using server = await startServer(() => undefined);
    const env = chat.variables(server.url);
    const cwd = await program("model_settings: { timeout: 0.2, max_retries: 0 }\n");
    const { exitCode, stderr } = await runCli([".", "x", "--model", chat.model, "--no-journal"], { cwd, env });
    expect(exitCode).toBe(7);
    expect(stderr).toContain("took too long");
    expect(stderr).toContain("1 attempt was made");
    expect(server.requests).toHaveLength(1);
  });

  it("that asks for a longer wait than is kept ends the run at once, and the wait is named", async () => {
    await using server = await startServer((response) => sendJson(response, chat.error("slow"), 429, { "retry-after": "86400" }));
    const env = chat.variables(server.url);
    const { exitCode, stderr } = await runCli([".", "x", "--model", chat.model, "--no-journal"], { cwd: await program(), env });
    expect(exitCode).toBe(7);
    expect(stderr).toContain("slow; it asks to wait for 86400 s, and the longest wait is 120 s");
    expect(server.requests).toHaveLength(1);
  });
});
