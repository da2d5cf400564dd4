/**
 * Names that a program of the user reads unasked, and obeys: when a folder is opened in an editor, entered in a shell, looked at
 * by an agent, committed, or built by a server. Sources that are run by name (`Makefile`, `conftest.py`, `build.gradle`) are not
 * among them: to write those is what a tool for writing is for. All names are folded.
 */
export function isSteeringName(components: readonly string[]): boolean {
  return (
    anyFile.test(components.at(-1) ?? "") ||
    components.some((name, start) => folders.has(name) || nested.get(name)?.some((rest) => follows(components, start + 1, rest)))
  );
}

function follows(components: readonly string[], start: number, names: readonly string[]): boolean {
  return names.every((name, index) => components[start + index] === name);
}

const files: readonly RegExp[] = [
  // Start-up and configuration files of tools: `.curlrc`, `.eslintrc.cjs`, `.gdbinit`.
  /^\.[\w-]+rc(?:\.[\w-]+)?$/,
  /^\.\w+init(?:[.-][\w-]+)*$/,
  /^\.(?:rprofile|renviron|nvim\.lua|tmux(?:\.[\w-]+)*|dir-locals-2\.el|ycm_extra_conf\.py|clangd|tool-versions|replit)$/,
  /^(?:site|user)customize\.py$/,
  /^\.?mise(?:\.[\w-]+)*\.toml$/,
  /^\.pnp\.[\w.]+$/,
  // Workspaces of editors.
  /\.(?:code-workspace|sublime-project)$/,
  /^\.devcontainer\.json$/,
  // Hooks of version control.
  /^\.?lefthook(?:-local)?\.\w+$/,
  /^\.pre-commit-(?:config|hooks)\.ya?ml$/,
  /^\.?(?:overcommit|lint-?staged\.config)\.\w+$/,
  // Servers that build.
  /^\.(?:gitlab-ci|travis|drone|appveyor|cirrus|woodpecker|semaphore|gitpod)(?:[.-][\w-]+)*\.ya?ml$/,
  /^(?:appveyor|azure-pipelines|bitbucket-pipelines)(?:[.-][\w-]+)*\.ya?ml$/,
  /^jenkinsfile$/,
  // What agents are told.
  /^(?:agents?|claude|codex|copilot-instructions|crush|gemini|qwen|warp)(?:[.-](?:local|override))?\.md$/,
  /^\.[\w-]*(?:rules|hints)$/,
  /^\.aider\.conf\.ya?ml$/,
  /^\.?mcp(?:[._-][\w-]+)*\.json$/,
];

/** One expression: every entry of a scope is compared. */
const anyFile = new RegExp(files.map(({ source }) => source).join("|"));

const folders: ReadonlySet<string> = new Set([
  ".config",
  ".mise",
  ".mvn",
  ".buildkite",
  ".circleci",
  ".semaphore",
  ".woodpecker",
  ".gitpod",
  ".idx",
  ".theia",
  ".fleet",
  ".zed",
  ".nvim",
  ".vim",
  ".emacs.d",
  ".agent",
  ".agents",
  ".amazonq",
  ".augment",
  ".cline",
  ".clinerules",
  ".continue",
  ".copilot",
  ".crush",
  ".goose",
  ".junie",
  ".kiro",
  ".opencode",
  ".qwen",
  ".roo",
  ".rules",
  ".trae",
  ".windsurf",
]);

/** A folder with what counts in it. */
const nested: ReadonlyMap<string, readonly (readonly string[])[]> = new Map([
  [".aws", [["config"]]],
  [".bundle", [["config"]]],
  [".cargo", [["config"], ["config.toml"]]],
  [".docker", [["config.json"]]],
  [".forgejo", [["workflows"]]],
  [".gitea", [["workflows"]]],
  [".github", [["actions"], ["agents"], ["hooks"], ["instructions"], ["prompts"]]],
  [".gradle", [["init.d"]]],
  [".hg", [["hgrc"]]],
  [".jj", [["repo", "config.toml"]]],
  [".kube", [["config"]]],
  [".local", [["bin"], ["share", "applications"]]],
  [".m2", [["settings.xml"]]],
  [".yarn", [["plugins"], ["releases"], ["sdks"]]],
  ["library", [["launchagents"]]],
]);
