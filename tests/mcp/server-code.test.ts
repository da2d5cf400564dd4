import { expect, test } from "vitest";
import { attack, World } from "../security/world.ts";
import { calling, own } from "./play-mcp.ts";

/** Writes files with a tool, in a program one of whose workers has the server. Returns the paths that were refused as the program's. */
async function refusedBy(
  server: object,
  files: Readonly<Record<string, string>>,
  paths: readonly string[],
): Promise<readonly string[]> {
  const world = new World({
    ...files,
    "llm-do.yaml": JSON.stringify({ mcp_servers: { own: server } }),
    "helper.worker": "---\ndescription: Helps.\ntoolsets: { mcp: { servers: [own] } }\n---\nDo it.\n",
    "main.worker":
      "---\nsandbox: { paths: { w: { root: ., mode: rw, write_approval: false } } }\ntoolsets: { filesystem: {}, helper: {} }\n---\nDo it.\n",
  });
  const model = calling(...paths.map((path) => ["write_file", { path: `w/${path}`, content: "changed" }] as const));
  const { events } = await attack(world, { model });
  const results = events.flatMap((event) => (event.type === "tool-result" ? [event.result] : []));
  expect(results).toHaveLength(paths.length);
  return paths.filter((_, index) => !results[index]?.ok);
}

const node = process.execPath;
const allowed = ["report.md", "out/data.json", "out/table.csv"];

test.each<[string, object, Record<string, string>, string[], string[]]>([
  ["modules that its modules import", own, { "server.mjs": 'import "./part.mjs";', "part.mjs": "" }, ["part.mjs"], ["other.mjs"]],
  [
    "a module that is loaded by an option",
    { command: node, args: ["--import=./hook.mjs", "-r", "./late.cjs", "server.mjs"] },
    { "server.mjs": "", "hook.mjs": 'import "./deep.mjs"', "deep.mjs": "", "late.cjs": "" },
    ["hook.mjs", "deep.mjs", "late.cjs"],
    ["other.mjs"],
  ],
  [
    "the main file of a folder",
    { command: "node", args: ["."] },
    { "package.json": '{"main":"lib/main.mjs"}', "lib/main.mjs": 'import "./part.mjs"', "lib/part.mjs": "" },
    ["lib/main.mjs", "lib/part.mjs", "package.json"],
    ["other.mjs"],
  ],
  [
    "everything beside a module that imports by computed names",
    { command: "node", args: ["srv/main.mjs"] },
    { "srv/main.mjs": "await import(process.argv[2])", "srv/part.mjs": "" },
    ["srv/main.mjs", "srv/part.mjs", "srv/new.txt"],
    ["other.mjs"],
  ],
  [
    "everything beside a module that requires by computed names",
    { command: "node", args: ["srv/main.cjs"] },
    { "srv/main.cjs": "require(`./${process.argv[2]}`)" },
    ["srv/new.cjs"],
    ["other.cjs"],
  ],
  [
    "what code in the command line could load",
    { command: "node", args: ["-e", 'import("./part.mjs")'] },
    {},
    ["part.mjs", "lib/part.cjs"],
    [],
  ],
  [
    "modules of Python at the program's root, also those that hide others",
    { command: "python3.12", args: ["server.py"] },
    { "server.py": "import helper", "helper.py": "" },
    ["server.py", "helper.py", "json.py", "pkg/__init__.py", "_x.so"],
    [],
  ],
  [
    "modules of Python in a folder of their own",
    { command: "python3", args: ["srv/server.py"] },
    { "srv/server.py": "" },
    ["srv/json.py", "srv/any.txt"],
    ["other.py"],
  ],
  [
    "a module of Python by its name",
    { command: "python3", args: ["-m", "pkg.server"] },
    { "pkg/server.py": "" },
    ["pkg/server.py"],
    [],
  ],
  [
    "a module of Python by its name, in its folder",
    { command: "python3", args: ["-m", "pkg.server"], cwd: "srv" },
    { "srv/pkg/server.py": "" },
    ["srv/pkg/server.py"],
    ["other.py"],
  ],
  [
    "a virtual environment",
    { command: ".venv/bin/notes" },
    { ".venv/pyvenv.cfg": "", ".venv/bin/notes": "#!", ".venv/lib/notes.py": "" },
    [".venv/lib/notes.py"],
    ["other.py"],
  ],
  [
    "what a shell starts",
    { command: "env", args: ["A=1", "sh", "-c", "cd srv && python3 main.py"] },
    { "srv/main.py": "" },
    ["srv/main.py"],
    [],
  ],
  ["scripts of a package", { command: "npm", args: ["start"] }, { "package.json": "{}" }, ["package.json", "lib/x.js"], []],
  [
    "files of its configuration, also one that is not there yet",
    { command: "tickets-mcp", args: ["--config=conf/tickets.json", "-c", "more.yaml"], env: { RULES: "rules.toml" } },
    { "conf/tickets.json": "{}" },
    ["conf/tickets.json", "more.yaml", "rules.toml"],
    ["conf/other.json", "other.py"],
  ],
  ["a program of the folder", { command: "./srv/notes" }, { "srv/notes": "#!" }, ["srv/notes", "srv/part"], ["other.sh"]],
  [
    "a folder that a container gets",
    { command: "docker", args: ["run", "-v", "./srv:/srv", "x"] },
    { "srv/a.txt": "" },
    ["srv/a.txt"],
    ["other.py"],
  ],
  [
    "nothing more for an installed program",
    { command: "tickets-mcp", args: ["stdio"] },
    {},
    [],
    ["stdio", "lib/x.js", "other.py"],
  ],
])("no tool changes what a server loads: %s", async (_, server, files, refused, written) => {
  const paths = [...refused, ...written, ...allowed];
  expect(await refusedBy(server, files, paths)).toEqual(refused);
});
