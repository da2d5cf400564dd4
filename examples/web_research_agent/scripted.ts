// Stands in for a language model and for the web: three pages, known by heart. A question with " and " is split.
import type { ScriptedAnswer, ScriptedRequest } from "llm-do/testing";

interface Found {
  readonly findings: readonly { readonly statement: string; readonly source: string }[];
  readonly open: readonly string[];
}

const pages = [
  { about: "range", source: "https://ferries.example/range", statement: "The ferry crosses 12 km on one charge." },
  {
    about: "cost",
    source: "https://ferries.example/cost",
    statement: "It costs a fifth more to build, and half as much to run.",
  },
];

export default function play(request: ScriptedRequest): ScriptedAnswer {
  return request.worker === "main" ? write(request) : research(request);
}

function write(request: ScriptedRequest): ScriptedAnswer {
  const { topic } = JSON.parse(request.lastUserText()) as { topic: string };
  const results = request.toolResults();
  const [first] = results;
  const questions = [`${topic}: range and cost`, `${topic}: noise`];
  if (!first) return { calls: questions.map((question) => ({ tool: "researcher", args: { question } })) };
  if (!first.result.ok) return `Stopped: ${first.result.error.error}`;
  if (first.name === "researcher") return { calls: [{ tool: "slug", args: { topic } }] };
  const found = foundIn(request);
  if (first.name === "slug") {
    const sections = questions.map((question, index) => {
      const lines = found[index]?.findings.map(({ statement, source }) => `- ${statement} (${source})`) ?? [];
      return `## ${question}\n\n${lines.join("\n") || "Nothing was found."}\n`;
    });
    const content = `# ${topic}\n\n${sections.join("\n")}`;
    return { calls: [{ tool: "write_file", args: { path: `reports/${String(first.result.value)}.md`, content } }] };
  }
  const { path } = first.result.value as { path: string };
  return `${path}. Not found out: ${found.flatMap(({ open }) => open).join(", ")}.`;
}

function foundIn({ messages }: ScriptedRequest): readonly Found[] {
  return messages.flatMap((message) =>
    message.role === "tool"
      ? message.parts.flatMap(({ name, result }) =>
          name === "researcher" && result.ok ? [result.value as unknown as Found] : [],
        )
      : [],
  );
}

function research(request: ScriptedRequest): ScriptedAnswer {
  const { question } = JSON.parse(request.lastUserText()) as { question: string };
  const results = request.toolResults();
  const parts = question.split(" and ");
  if (parts.length > 1 && results.length === 0)
    return { calls: parts.map((part) => ({ tool: "researcher", args: { question: part } })) };
  if (results.length > 0) {
    const found = results.flatMap(({ result }) => (result.ok ? [result.value as unknown as Found] : []));
    return { json: { findings: found.flatMap(({ findings }) => findings), open: found.flatMap(({ open }) => open) } as never };
  }
  const hits = pages.filter(({ about }) => question.includes(about));
  return {
    serverCalls: [
      { tool: "web_search", args: { query: question }, result: hits.map(({ source }) => ({ url: source })) },
      ...hits.map(({ source, statement }) => ({
        tool: "web_fetch",
        args: { url: source },
        result: { url: source, text: statement },
      })),
    ],
    json: { findings: hits.map(({ statement, source }) => ({ statement, source })), open: hits.length > 0 ? [] : [question] },
  };
}
