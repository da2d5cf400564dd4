import { nameSet } from "../../util/text/name-set.ts";
import { holdsNested, leadsToNested, nestNames } from "./nested-names.ts";

/**
 * Returns whether a program of the user reads such a file unasked, and obeys it: when a folder is opened in an editor, entered in a
 * shell, looked at by an agent, committed, or built by a server. Sources that are run by name (`Makefile`, `conftest.py`,
 * `build.gradle`) are not among them: to write those is what a tool for writing is for. The components are folded.
 */
export function isSteeringName(components: readonly string[]): boolean {
  return anyFile.test(components.at(-1) ?? "") || components.some((name) => folders.has(name)) || holdsNested(components, nested);
}

/** Returns whether such a file can lie further down because of the folder's name: in `.cargo`. The components are folded. */
export function leadsToSteeringName(components: readonly string[]): boolean {
  return leadsToNested(components, nested);
}

const files: readonly RegExp[] = [
  // Start-up and configuration files of tools: `.curlrc`, `.eslintrc.cjs`, `.gdbinit`.
  /^\.[\w-]+rc(?:\.[\w-]+)?$/,
  /^\.\w+init(?:[.-][\w-]+)*$/,
  // Those in a language: `.eslintrc.cjs`, `.iex.exs`, `.nvim.lua`. `._x.js` is a copy that macOS makes.
  /^\.(?!_)[\w.-]+\.(?:[cm]?[jt]s|el|exs|fish|lisp|lua|php|py|rb|sh|zsh)$/,
  /^\.(?:rprofile|renviron|tmux(?:\.[\w-]+)*|clangd|tool-versions|replit)$/,
  /^\.(?:ghci|erlang|gnuplot|rdata|perldb|spacemacs|gnus|mailcap|forward|[rs]hosts|less(?:filter|key)?|pam_environment)$/,
  /^\.(?:alacritty\.\w+|flake8|rspec|simplecov|yardopts|sbtopts|jvmopts|bazelversion|user\.ini|htaccess|lfsconfig)$/,
  /^\.(?:rubocop|standard)(?:_\w+)?\.yml$/,
  /^\.php(?:-cs-fixer|_cs)(?:\.dist)?$/,
  /^\.(?:dependency-cruiser|knip|size-limit)\.\w+$/,
  /^\.(?:autoenv|bash_completion$)/,
  /^(?:rust-toolchain(?:\.toml)?|\.?rust-analyzer\.toml|gradle\.properties|\.?ansible\.cfg|pylintrc)$/,
  /^(?:deno\.jsonc?|package\.(?:yaml|json5)|pnpm-workspace\.yaml)$/,
  /^(?:site|user)customize\.py$/,
  /^\.(?:guile|local\.vimrc|swipl\.rc)$/,
  /^(?:devbox\.json|nuget\.config)$/,
  /^\.?mise(?:\.[\w-]+)*\.toml$/,
  /^\.pnp\.[\w.]+$/,
  // Workspaces of editors.
  /\.(?:code-workspace|sublime-project)$/,
  /^\.devcontainer\.json$/,
  /^\.?devfile\.ya?ml$/,
  /^replit\.nix$/,
  // Hooks of version control.
  /^\.?simple-git-hooks\.\w+$/,
  /^\.?lefthook(?:-local)?\.\w+$/,
  /^(?:captainhook\.json|grumphp\.ya?ml(?:\.dist)?)$/,
  /^\.pre-commit-(?:config|hooks)\.ya?ml$/,
  /^(?:\.fslckout|_fossil_)$/,
  /^\.?(?:overcommit|lint-?staged\.config)\.\w+$/,
  // Servers that build.
  /^\.(?:gitlab-ci|travis|drone|appveyor|cirrus|woodpecker|semaphore|gitpod)(?:[.-][\w-]+)*\.ya?ml$/,
  /^(?:appveyor|azure-pipelines|bitbucket-pipelines)(?:[.-][\w-]+)*\.ya?ml$/,
  /^\.(?:drone|cirrus)\.(?:star|jsonnet)$/,
  /^(?:buildspec|appspec|bitrise|codemagic|cloudbuild|render)(?:[.-][\w-]+)*\.(?:ya?ml|json)$/,
  /^\.?(?:readthedocs|zuul|atlantis|packit|prow|build)\.ya?ml$/,
  /^(?:netlify\.toml|vercel\.json)$/,
  /^jenkinsfile(?:[.-][\w-]+)*$/,
  // Instructions for agents.
  /^(?:agents?|claude|codex|conventions|copilot-instructions|crush|gemini|qwen|warp|iflow|codebuddy|opencode|openhands)(?:[.-](?:local|override))?\.md$/,
  /^\.[\w-]*(?:rules|hints|modes)(?:-[\w-]+)?$/,
  /^\.aider(?:\.[\w-]+)*\.ya?ml$/,
  /^\.openhands_instructions$/,
  /^(?:\.claude\.json|\.?(?:crush|opencode)\.jsonc?)$/,
  /^\.?mcp(?:[._-][\w-]+)*\.json$/,
];

/** One expression: every entry of a scope is compared. */
const anyFile = new RegExp(files.map(({ source }) => source).join("|"));

const folders: ReadonlySet<string> = nameSet(
  // Settings of tools, shells and editors.
  ".config .mise .ammonite .ansible .bash_completion.d .bsp .doom.d .externaltoolbuilders .flox .hammerspoon .ipython .jupyter .lein .mutt .mvn .oh-my-zsh .sbt .subversion .terraform.d .xmonad",
  ".emacs.d .fleet .helix .lapce .nova .nvim .settings .vim .vs .zed",
  // Servers that build.
  ".azure-pipelines .azuredevops .buildkite .builds .circleci .copr .ebextensions .harness .platform .semaphore .teamcity .tekton",
  ".woodpecker .zuul.d zuul.d",
  // Hooks of version control, and environments that begin with a folder.
  ".lefthook .ddev",
  // Workspaces in the cloud.
  ".codesandbox .gitpod .idx .theia",
  // Agents.
  ".agent .agents .aiassistant .amazonq .amp .augment .cline .clinerules .codebuddy .codeium .cody .continue .copilot .crush",
  ".factory .firebender .goose .iflow .junie .kilo .kilocode .kiro .lingma .opencode .openhands .pi .qwen .roo .rules .serena",
  ".tabnine .trae .windsurf",
);

const nested = nestNames(
  ".aws/config .aws/credentials .aws/cli/alias .bundle/config .cargo/config .cargo/config.toml .cargo/env .docker/config.json",
  ".docker/cli-plugins .ghc/ghci.conf mise/config.toml .forgejo/workflows .gitea/workflows .github/actions .github/agents .github/hooks",
  ".github/instructions .github/prompts .github/chatmodes .github/skills .gitlab/agents .gitlab/duo .gradle/init.d",
  ".gradle/init.gradle .hg/hgrc .hg/hgrc-not-shared .hg/sharedpath _darcs/prefs .bzr/branch/branch.conf .jj/repo/config.toml .jj/workspace-config.toml .pijul/config .julia/config .kube/config .kube/kuberc .local/bin .local/lib",
  ".local/share/applications .local/share/bash-completion .local/share/dbus-1 .local/share/nvim/site .local/share/systemd .m2/settings.xml .nvm/nvm.sh .pip/pip.conf .sl/config",
  ".yarn/plugins .yarn/releases .yarn/sdks gradle/wrapper library/launchagents library/launchdaemons tools/bazel",
);
