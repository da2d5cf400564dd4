import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { noWall } from "../../host/command-bench.ts";
import { approveAll, attack, outcome, World } from "../world.ts";

const scope = "sandbox: { paths: { w: { root: .., mode: rw, write_approval: false } } }";
const main = (toolsets: string, text = "Go.") =>
  `---\ndescription: x\ntoolsets: { filesystem: {}${toolsets} }\n${scope}\n---\n${text}\n`;

interface CodeRow {
  /** Files of the world, the program in `program`. */
  readonly files: Readonly<Record<string, string>>;
  readonly links?: readonly (readonly [from: string, to: string])[];
  /** Path in the world that the model writes. */
  readonly at: string;
  /** A statement that shows that the code ran, in the place of `evil` in this text. */
  readonly content?: string;
}

const withTool = main(", t: {}");
const toolOf = (imports: string) =>
  `import { tool } from "llm-do";\n${imports}\nexport const t = tool({ description: "x", input: { type: "object" }, run: () => 1 });\n`;
const cjs = "evil; exports.x = 1;\n";
const linked = (description: object, more: Readonly<Record<string, string>> = {}) => ({
  "packages/linked/package.json": JSON.stringify({ name: "linked", version: "1.0.0", ...description }),
  ...more,
});
const links = [["program/node_modules/linked", "packages/linked"]] as const;

/** Text that would run in a later run of the same program. */
const code: Readonly<Record<string, CodeRow>> = {
  "what `createRequire` loads under another name": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf(
        'import { createRequire } from "node:module";\nconst load = createRequire(import.meta.url);\nload("./lib/c.cjs");',
      ),
      "program/lib/c.cjs": "exports.x = 1;\n",
    },
    at: "program/lib/c.cjs",
    content: cjs,
  },
  "the module of a thread": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf(
        'import { Worker } from "node:worker_threads";\nawait new Promise((done) => new Worker(new URL("./thread.mjs", import.meta.url)).on("exit", done));',
      ),
      "program/thread.mjs": "export {};\n",
    },
    at: "program/thread.mjs",
  },
  "what `import.meta.resolve` leads to": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('const place = import.meta.resolve("./late.mjs");\nawait import(place);'),
      "program/late.mjs": "export {};\n",
    },
    at: "program/late.mjs",
  },
  "an import in a template without a hole": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf("await import(`./late.mjs`);"),
      "program/late.mjs": "export {};\n",
    },
    at: "program/late.mjs",
  },
  "an import with a query": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "./late.mjs?v=1";'),
      "program/late.mjs": "export {};\n",
    },
    at: "program/late.mjs",
  },
  "an escaped character in an import": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "./l\\u0061te%2Emjs";'),
      "program/late.mjs": "export {};\n",
    },
    at: "program/late.mjs",
  },
  "the `main` of a folder that is required": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "./start.cjs";'),
      "program/start.cjs": 'require("./lib");\n',
      "program/lib/package.json": '{"main":"real.js"}',
      "program/lib/real.js": "exports.x = 1;\n",
    },
    at: "program/lib/real.js",
    content: cjs,
  },
  "what `export … from` names, two modules away": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('export * as one from "./one.ts";'),
      "program/one.ts": 'export { two } from "./deep/two.mts";\n',
      "program/deep/two.mts": "export const two: number = 2;\n",
    },
    at: "program/deep/two.mts",
    content: "evil; export const two: number = 2;\n",
  },
  "an imported type's neighbour that is no type": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import { type A, b } from "./b.ts";\nvoid b;\nvoid (0 as unknown as A);'),
      "program/b.ts": "export type A = 1;\nexport const b = 1;\n",
    },
    at: "program/b.ts",
    content: "export type A = 1; export const b = 1; evil;\n",
  },
  "a linked package whose `main` is TypeScript": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "linked";'),
      ...linked({ type: "module", main: "src/index.ts" }, { "packages/linked/src/index.ts": "export {};\n" }),
    },
    links,
    at: "packages/linked/src/index.ts",
  },
  "a linked package whose `main` is a folder": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "linked";'),
      ...linked({ main: "lib" }, { "packages/linked/lib/index.js": "exports.x = 1;\n" }),
    },
    links,
    at: "packages/linked/lib/index.js",
    content: cjs,
  },
  "a linked package without `main`": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "linked";'),
      ...linked({}, { "packages/linked/index.js": "exports.x = 1;\n" }),
    },
    links,
    at: "packages/linked/index.js",
    content: cjs,
  },
  "what a linked package gives to `require` alone": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "./start.cjs";'),
      "program/start.cjs": 'require("linked");\n',
      ...linked(
        { exports: { ".": { import: "./esm.mjs", require: "./cjs.cjs" } } },
        { "packages/linked/esm.mjs": "export {};\n", "packages/linked/cjs.cjs": "exports.x = 1;\n" },
      ),
    },
    links,
    at: "packages/linked/cjs.cjs",
    content: cjs,
  },
  "the longer of two patterns of a linked package's `exports`": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "linked/features/a";'),
      ...linked(
        { type: "module", exports: { "./*": "./any/*.js", "./features/*": "./own/*.js" } },
        { "packages/linked/own/a.js": "export {};\n" },
      ),
    },
    links,
    at: "packages/linked/own/a.js",
  },
  "what `#name` means by a condition of Node": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "#late";'),
      "program/package.json": '{"type":"module","imports":{"#late":{"node-addons":"./addons.mjs","default":"./late.mjs"}}}',
      "program/late.mjs": "export {};\n",
      "program/addons.mjs": "export {};\n",
    },
    at: "program/addons.mjs",
  },
  "the module of a linked package that workers come from": {
    files: {
      "program/main.worker": main(', "linked:helper.worker": {}'),
      "program/package.json": '{"dependencies":{"linked":"1"}}',
      "packages/linked/helper.worker": "---\ndescription: y\ntoolsets: { two: {} }\n---\nHelp.\n",
      "packages/linked/two.worker": "---\ndescription: z\n---\nHelp.\n",
      ...linked({ type: "module" }),
    },
    links,
    at: "packages/linked/tools.js",
  },
  "a package that is found further up": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "dep";'),
      "node_modules/dep/package.json": '{"name":"dep","type":"module","exports":"./i.js"}',
      "node_modules/dep/i.js": "export {};\n",
    },
    at: "program/node_modules/dep/index.js",
    content: cjs,
  },
  "a file for a folder of packages": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "./start.cjs";'),
      "program/start.cjs": 'try { require("dep"); } catch {}\n',
    },
    at: "node_modules/dep.js",
    content: cjs,
  },
  "folders of packages behind a link": {
    files: {
      "program/main.worker": withTool,
      "program/tools.ts": toolOf('import "dep";'),
      "shared/dep/package.json": '{"name":"dep","type":"module","exports":"./i.js"}',
      "shared/dep/i.js": "export {};\n",
    },
    links: [["program/node_modules", "shared"]],
    at: "shared/dep/i.js",
  },
  "the module behind a link": {
    files: {
      "program/main.worker": withTool,
      "program/real/tools.ts": toolOf(""),
    },
    links: [["program/tools.ts", "program/real/tools.ts"]],
    at: "program/real/tools.ts",
    content: `evil;\n${toolOf("")}`,
  },
  "an import of a program whose folder is behind a link": {
    files: {
      "store/main.worker": withTool,
      "store/tools.ts": toolOf('import "./lib/late.mjs";'),
      "store/lib/late.mjs": "export {};\n",
    },
    links: [["program", "store"]],
    at: "store/lib/late.mjs",
  },
};

/** Shows in this process, under a name of the row's own, that the code ran. */
function contentOf({ content = "evil; export {};\n" }: CodeRow, mark: string): string {
  return content.replace("evil;", `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "");`);
}

function toModule(row: CodeRow, mark: string): string {
  const text = contentOf(row, mark);
  const isCommonJs = /\bexports\./.test(text);
  return isCommonJs ? text : `import { createRequire as r } from "node:module"; const require = r("/");\n${text}`;
}

function createWorld({ files, links: wanted = [] }: Pick<CodeRow, "files" | "links">): World {
  const world = new World({});
  for (const [path, text] of Object.entries(files)) world.put(path, text);
  for (const [from, to] of wanted) {
    mkdirSync(dirname(world.at(from)), { recursive: true });
    symlinkSync(world.at(to), world.at(from));
  }
  return world;
}

const write = (path: string, content = "evil") => ({ tool: "write_file", args: { path: `w/${path}`, content } });

describe("code of a program", { timeout: 60_000 }, () => {
  test.each(Object.entries(code))("%s: runs where it is put by hand, and is written by no file tool", async (_, row) => {
    const open = createWorld(row);
    const mark = open.at("ran");
    open.put(row.at, toModule(row, mark));
    const planted = await attack(open, { model: [] });
    expect(existsSync(mark), String(planted.error)).toBe(true);

    const world = createWorld(row);
    const before = existsSync(world.at(row.at)) ? world.read(row.at) : undefined;
    const { results, error } = await attack(world, {
      model: [[write(row.at, toModule(row, world.at("ran")))]],
      approval: approveAll,
    });
    expect(error).toBeUndefined();
    expect(existsSync(world.at(row.at)) ? world.read(row.at) : undefined, results.map(outcome).join()).toBe(before);
  });

  test("what only stands beside it is written without a question", async () => {
    const world = createWorld({
      files: {
        "program/main.worker": withTool,
        "program/tools.ts": toolOf(
          'import type { A } from "./types.ts";\nimport "linked";\nexport const place = "./notes.md";\nvoid (0 as unknown as A);',
        ),
        "program/types.ts": "export type A = 1;\n",
        ...linked({ exports: { ".": "./a.js", "./b": "./b.js" } }, { "packages/linked/a.js": "", "packages/linked/b.js": "" }),
      },
      links,
    });
    const paths = [
      "program/types.ts",
      "program/notes.md",
      "packages/linked/b.js",
      "packages/linked/src/c.ts",
      "packages/x/package.md",
    ];
    const { results, error } = await attack(world, {
      model: [paths.map((path) => write(path))],
      approval: { mode: "reject_all" },
    });
    expect(error).toBeUndefined();
    expect(paths.map((path, index) => [path, outcome(results[index] as never)])).toEqual(paths.map((path) => [path, "ok"]));
    for (const path of paths) expect(world.read(path)).toBe("evil");
  });
});

/** Names that a program of the user obeys when it opens, enters, builds or starts there. */
const steering: Readonly<Record<string, string>> = {
  "start-up files of shells and the terminal":
    ".bashrc .bash_profile .zshenv deep/.zshrc .config/fish/config.fish .inputrc .lesskey .tmux.conf .wezterm.lua .alacritty.toml .screenrc .pam_environment .envrc .bash_completion .bash_completion.d/x .local/share/bash-completion/completions/git .cargo/env .nvm/nvm.sh .oh-my-zsh/custom/x.zsh .lessfilter .autoenv .autoenv.zsh .mutt/muttrc .gnuplot",
  "start-up files of interpreters and debuggers":
    ".ghci .ghc/ghci.conf .guile .swipl.rc .formatter.exs .credo.exs .ccl-init.lisp .iex.exs .erlang .Rprofile .RData .ocamlinit .irbrc .gdbinit .lldbinit-Xcode .pdbrc.py .perldb .ipython/profile_default/startup/x.py .jupyter/jupyter_notebook_config.py .julia/config/startup.jl usercustomize.py .ammonite/predef.sc",
  "editors and their servers":
    ".vscode/tasks.json .idea/workspace.xml .vimrc .local.vimrc .nvim.lua .emacs.el .spacemacs .doom.d/config.el .dir-locals.el .helix/languages.toml .zed/tasks.json .nova/Tasks/x.json .settings/org.eclipse.core.prefs .externalToolBuilders/x.launch .bsp/sbt.json .luarc.json rust-analyzer.toml .rubocop.yml .flake8 .markdownlint.cjs .ycm_extra_conf.py .dir-locals-2.el .local/share/nvim/site/plugin/x.lua x.code-workspace .vs/tasks.vs.json .clangd",
  "version control and its hooks":
    ".git .git/hooks/pre-commit .gitattributes .gitmodules .lfsconfig .husky/pre-commit .githooks/x .simple-git-hooks.json simple-git-hooks.cjs lefthook.yml lefthook-local.toml .lefthook/pre-commit/x.sh captainhook.json grumphp.yml .pre-commit-hooks.yaml .hg/hgrc .hg/hgrc-not-shared .hg/sharedpath _darcs/prefs/defaults .fslckout _FOSSIL_ .sl/config .jj/repo/config.toml .subversion/config",
  "package managers and toolchains":
    "package.json .size-limit.js .dependency-cruiser.json .cspell.cjs .knip.ts pylintrc .php-cs-fixer.dist.php .terraform.d/plugins/x .ansible.cfg package.yaml package.json5 .npmrc .yarnrc.yml .yarn/releases/yarn.cjs .pnpmfile.cjs .pnpmfile.mjs pnpm-workspace.yaml deno.json deno.jsonc bunfig.toml nuget.config NuGet.Config devbox.json mise/config.toml .ddev/config.yaml .pnp.cjs .cargo/config.toml rust-toolchain rust-toolchain.toml gradle.properties gradle/wrapper/gradle-wrapper.properties .gradle/init.gradle .mvn/jvm.config .sbtopts .jvmopts .lein/profiles.clj .bazelversion tools/bazel mise.toml .tool-versions .bundle/config .pip/pip.conf .docker/cli-plugins/x .aws/cli/alias .local/lib/python3/site-packages/x.pth .local/share/systemd/user/x.service",
  "servers that build and serve":
    ".github/workflows/x.yml .github/actions/x/action.yml .gitlab-ci.yml .circleci/config.yml .drone.star .cirrus.star Jenkinsfile Jenkinsfile.release azure-pipelines.yml .azure-pipelines/x.yml .teamcity/settings.kts .tekton/x.yaml .buildkite/pipeline.yml buildspec.yml appspec.yml cloudbuild.yaml codemagic.yaml bitrise.yml .build.yml .builds/x.yml .zuul.yaml zuul.d/x.yaml .packit.yaml .readthedocs.yaml atlantis.yaml netlify.toml vercel.json .ebextensions/x.config .htaccess .user.ini devfile.yaml .devcontainer.json .gitpod.yml .replit replit.nix .codesandbox/tasks.json",
  agents:
    "AGENTS.md CONVENTIONS.md sub/AGENTS.override.md CLAUDE.md CLAUDE.local.md .claude/settings.json .claude.json GEMINI.md .cursorrules .cursor/rules/x.mdc .windsurfrules .roomodes .roorules-code .clinerules/x.md .kilocode/rules/x.md .kilocodemodes .github/copilot-instructions.md .github/prompts/x.prompt.md .github/chatmodes/x.md .mcp.json mcp.json opencode.json .opencode/agent/x.md crush.json .crush.json .aider.conf.yml .aider.model.settings.yml .openhands/setup.sh .factory/droids/x.md .amp/settings.json .aiassistant/rules/x.md .junie/guidelines.md .serena/project.yml .pi/extensions/x.ts .codeium/windsurf/mcp_config.json",
  "spellings of such names":
    ".BashRC .gIt/config Package.JSON .vscode./tasks.json ｐackage.json .git\u200b/config .\u212Aube/config AGENTS.MD. jenkinsFILE .husky::$DATA/x ma\u017Fter/.npmrc",
};

/** They look like those, and nobody obeys them. */
const harmless =
  "README.md ._index.js docs/conventions.txt .cargo/environment src/.keep .local/share/x .gitignore .gitkeep .dockerignore docs/agents-guide.md docs/claude.txt notes/my-rules.md src/config/index.ts config.json settings.json lib/rules.ts packages.json package.json.md Makefile src/tools/build.ts gradle/libs.versions.toml .github/ISSUE_TEMPLATE/x.md .github/CODEOWNERS cargo/config.toml html/htaccess.md render.ts build.json zed/x vercel.md .cache/x .nyc_output/x local/bin/x head/HEAD.md rust-toolchain.md deno.md";

describe("names that steer other programs", { timeout: 60_000 }, () => {
  const names = (text: string) => text.split(" ");
  const freely = () => createWorld({ files: { "program/main.worker": withTool.replace(", t: {}", "") } });
  const calls = (paths: readonly string[]) =>
    paths.map((path, index) => ({
      tool: index % 2 === 0 ? "write_file" : "append_file",
      args: { path: `w/user/${path}`, content: "evil" },
    }));

  test.each(Object.entries(steering))("%s: a scope that asks for nothing asks for them", async (_, text) => {
    const world = freely();
    const { results, error } = await attack(world, { model: [calls(names(text))], approval: { mode: "reject_all" } });
    expect(error).toBeUndefined();
    expect(results).toHaveLength(names(text).length);
    expect(existsSync(world.at("user")) ? world.files("user") : []).toEqual([]);
  });

  test("others are written without a question", async () => {
    const world = freely();
    const { results, error } = await attack(world, { model: [calls(names(harmless))], approval: { mode: "reject_all" } });
    expect(error).toBeUndefined();
    const refused = names(harmless).filter((_, index) => outcome(results[index] as never) !== "ok");
    expect(refused).toEqual([]);
    expect(world.files("user")).toEqual(names(harmless).sort());
  });

  const noGit = spawnSync("git", ["--version"]).status === 0 ? "" : "there is no git";
  test.skipIf(noGit !== "")(`a folder is made no repository whose settings git obeys${noGit}`, async () => {
    const repository = (world: World) => ({
      HEAD: "ref: refs/heads/main\n",
      "objects/x": "",
      "refs/x": "",
      config: `[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = "touch ${world.at("ran")}; false"\n`,
    });
    const look = (world: World) => {
      const env = { PATH: process.env["PATH"] ?? "", HOME: world.at("home"), GIT_CEILING_DIRECTORIES: world.root };
      spawnSync("git", ["status"], { cwd: world.at("user/repo"), env });
      return existsSync(world.at("ran"));
    };
    const open = freely();
    for (const [name, text] of Object.entries(repository(open))) open.put(`user/repo/${name}`, text);
    expect(look(open)).toBe(true);
    const world = freely();
    const planted = Object.entries(repository(world)).map(([name, text]) => write(`user/repo/${name}`, text));
    const { results } = await attack(world, { model: [planted], approval: { mode: "reject_all" } });
    expect(results.map(outcome)).toEqual([expect.not.stringMatching("ok"), "ok", "ok", "ok"]);
    expect(look(world)).toBe(false);
  });

  test.skipIf(noWall !== "")("a command behind the wall brings none of them", async () => {
    const world = freely();
    world.put(
      "program/main.worker",
      `---\ndescription: x\n${scope}\ntoolsets: { shell: { rules: [], default: { approval_required: true } } }\n---\nGo.\n`,
    );
    const all = Object.entries(steering).flatMap(([what, text]) => (what.startsWith("spellings") ? [] : names(text)));
    const planted = all.filter((name) => name !== ".git");
    // Named nowhere in the command: it puts the names together.
    world.put("names.txt", `${planted.join("\n")}\n`);
    const command =
      'while read -r name; do mkdir -p "user/$(dirname "$name")"; echo evil > "user/$name"; done < names.txt; touch user/done';
    const { error } = await attack(world, { model: [[{ tool: "shell", args: { command, writes: ["w"] } }]] });
    expect(error).toBeUndefined();
    expect(existsSync(world.at("user/done"))).toBe(true);
    expect(planted.filter((name) => existsSync(world.at(`user/${name}`)))).toEqual([]);
    expect(world.files("user").filter((name) => name !== "done" && !name.includes(".moved-aside-"))).toEqual([]);
  });
});
