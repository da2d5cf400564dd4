// Stands in for a language model that sees. It cannot: it reads the description that the picture carries in a text chunk of the PNG.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

interface Task {
  readonly task: string;
  readonly owner: string;
  readonly duration: string;
}

export default function play(request: ScriptedRequest): ScriptedAnswer {
  return request.worker === "main" ? plan(request) : readBoard(request);
}

function plan(request: ScriptedRequest): ScriptedAnswer {
  const results = request.toolResults();
  const [first] = results;
  if (!first) return { calls: [{ tool: "list_files", args: { path: "boards" } }] };
  const failed = results.find(({ result }) => !result.ok);
  if (failed) return `Stopped: ${JSON.stringify(failed.result)}`;
  const values = results.map(({ result }) => (result.ok ? result.value : null));
  if (first.name === "list_files") {
    const { files } = values[0] as { files: string[] };
    return { calls: files.map((file) => ({ tool: "board_reader", args: { attachments: [file] } })) };
  }
  if (first.name === "board_reader") {
    const boards = values as unknown as readonly { readonly tasks: readonly Task[] }[];
    return {
      calls: boards.map(({ tasks }, index) => ({
        tool: "write_file",
        args: { path: `plans/${nameOf(request, index)}.md`, content: table(tasks) },
      })),
    };
  }
  return values.map((value) => (value as { path: string }).path).join("\n");
}

/** The name of a listed board, without folder and suffix. */
function nameOf({ messages }: ScriptedRequest, index: number): string {
  const parts = messages.flatMap((message) => (message.role === "tool" ? message.parts : []));
  const listing = parts.find(({ name }) => name === "list_files");
  const files = listing?.result.ok ? (listing.result.value as { files: string[] }).files : [];
  return files[index]?.replace(/^.*\/|\.\w+$/g, "") ?? "board";
}

function table(tasks: readonly Task[]): string {
  const rows = tasks.map(({ task, owner, duration }) => `| ${task} | ${owner} | ${duration} |`);
  return `${["| Task | Owner | Duration |", "| --- | --- | --- |", ...rows].join("\n")}\n`;
}

function readBoard(request: ScriptedRequest): ScriptedAnswer {
  const [picture] = request.files();
  if (picture?.mediaType !== "image/png") return request.unexpected("one PNG");
  const description = /Description\0([^\0]+?)\0/.exec(Buffer.from(picture.bytes).toString("latin1"))?.[1] ?? "";
  const notes = description.matchAll(/([^;(]+) \(([^,)]+), ([^)]+)\)/g);
  const tasks = [...notes].map(([, task = "", owner = "", duration = ""]) => ({ task: task.trim(), owner, duration }));
  return { json: { tasks } };
}
