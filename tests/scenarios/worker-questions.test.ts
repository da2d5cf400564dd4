import { describe, expect, test } from "vitest";
import { type ApprovalRequest, tool } from "../../src/index.ts";
import { renderRequest } from "../../src/ui/render-request.ts";
import { play, worker } from "./harness.ts";

const text = "input: { input?: string }";

/** The question of a call of `helper`, as `main` makes it; where there is none, what else happened. */
async function questionOf(files: Readonly<Record<string, string>>, more: Partial<Parameters<typeof play>[0]> = {}) {
  const asked: ApprovalRequest[] = [];
  const { error } = await play({
    files,
    model: ({ worker: name, turn }) =>
      name === "main" && turn === 1 ? { calls: [{ tool: "helper", args: { input: "please" } }] } : "done",
    approval: {
      mode: "prompt",
      approver: async (request) => {
        asked.push(request);
        return { type: "deny" };
      },
    },
    request: { input: "go" },
    ...more,
  });
  expect(error).toBeUndefined();
  const [request] = asked;
  if (!request) throw new Error("nothing was asked");
  return { request, shown: renderRequest(request, { columns: 100, style: (_, words) => words }).text };
}

function can({ request }: Awaited<ReturnType<typeof questionOf>>): readonly string[] {
  if (request.preview?.type !== "worker") throw new Error("no preview of a worker");
  return request.preview.can;
}

const main = worker(`${text}\nsandbox: { paths: {} }\ntoolsets: { helper: {} }`);
const shell = "shell: { rules: [{ pattern: 'git log', approval_required: false }], default: { approval_required: true } }";

describe("the question for a worker says what it can do that its caller cannot", () => {
  test("commands, the network, scopes and models", async () => {
    const helper = worker(`
${text}
description: h
model: test:other
sandbox: { network_enabled: true, paths: { out: { root: ./out, mode: rw, write_approval: false }, in: { root: ./in, suffixes: [.md] } } }
toolsets: { filesystem: {}, ${shell} }`);
    const question = await questionOf({ "main.worker": main, "helper.worker": helper, "out/x": "", "in/x": "" });
    expect(can(question)).toEqual([
      "run commands: any other command, after a question",
      "run commands: git log, without a question",
      "start programs that use the network",
      "write out without a question",
      "read in (.md)",
      "send to test:other",
    ]);
    expect(question.shown).toContain("(what helper can do that main cannot:)\n  | run commands: any other command");
  });

  test("through the workers that it calls in turn, and through code", async () => {
    const question = await questionOf(
      {
        "main.worker": main,
        "helper.worker": worker(`${text}\ndescription: h\nsandbox: { paths: {} }\ntoolsets: { deep: {} }`),
        "deep.worker": worker("description: d\ninput: { deck: attachment }\ntoolsets: { send: {}, look: {} }"),
      },
      {
        tools: {
          send: tool({ input: { type: "object" }, run: () => 1 }),
          look: tool({ input: { type: "object" }, approval: "pre-approved", run: () => 1 }),
        },
      },
    );
    expect(can(question)).toEqual([
      "run tools.ts (code, with your rights)",
      "write .",
      "call send",
      "call without a question: look",
      "take 4 attachments at most, 10,000,000 bytes in all",
    ]);
  });

  test("that a shell's general caution is lifted, and that a scope of its caller is less guarded", async () => {
    const guarded = "sandbox: { paths: { w: { root: ./w, mode: rw, write_approval: true } } }";
    const free = "sandbox: { paths: { w: { root: ./w, mode: rw, write_approval: false } } }";
    const lifted = shell.replace("default", "_approval_config: { shell: { pre_approved: true } }, default");
    const question = await questionOf({
      "main.worker": worker(`${text}\n${guarded}\ntoolsets: { filesystem: {}, ${shell}, helper: {} }`),
      "helper.worker": worker(`${text}\ndescription: h\n${free}\ntoolsets: { filesystem: {}, ${lifted} }`),
      "w/x": "",
    });
    expect(can(question)).toEqual(["run commands that its rules leave open, without a question", "write w without a question"]);
  });

  test("that it can write where its caller is always asked", async () => {
    const scope = (more: string) => `sandbox: { paths: { w: { root: ./w, mode: rw${more} } } }`;
    const question = await questionOf({
      "main.worker": worker(`${text}\n${scope(", write_approval: true")}\ntoolsets: { filesystem: {}, helper: {} }`),
      "helper.worker": worker(`${text}\ndescription: h\n${scope("")}\ntoolsets: { filesystem: {} }`),
      "w/x": "",
    });
    expect(can(question)).toEqual(["write w"]);
  });

  test("nothing, where its caller can do the same in a folder around it", async () => {
    const question = await questionOf({
      "main.worker": worker(`${text}\ntoolsets: { filesystem: {}, helper: {} }`),
      "helper.worker": worker(
        `${text}\ndescription: h\nsandbox: { paths: { w: { root: ./w, mode: rw } } }\ntoolsets: { filesystem: {} }`,
      ),
      "w/x": "",
    });
    expect(can(question)).toEqual([]);
    expect(question.shown).toContain("(helper can do nothing that main cannot)");
  });

  test("a folder that its caller guards more inside is named", async () => {
    const paths = "paths: { all: { root: ., mode: rw }, inner: { root: ./w/inner, mode: ro } }";
    const question = await questionOf({
      "main.worker": worker(`${text}\nsandbox: { ${paths} }\ntoolsets: { filesystem: {}, helper: {} }`),
      "helper.worker": worker(
        `${text}\ndescription: h\nsandbox: { paths: { w: { root: ./w, mode: rw } } }\ntoolsets: { filesystem: {} }`,
      ),
      "w/inner/x": "",
    });
    expect(can(question)).toEqual(["write w"]);
  });
});
