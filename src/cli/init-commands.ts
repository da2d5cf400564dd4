const looks = "    looks: allowed # What asks for no effect runs: it changes nothing.";

/** Programs whose work is in the project's files. Protected names, such as `package.json`, stay as they are. */
const inProject = [
  ...["npm test", "npm run", "npx", "node", "python3", "pytest", "cargo", "go", "cmake", "make"],
  ...["mkdir", "touch", "cp", "mv", "ln", "chmod", "truncate", "tar", "patch", "tee", "sed", "awk", "sort", "jq"],
  ...["echo", "printf", "cat", "ls", "grep"],
];

const withGit = [
  "git status",
  "git log",
  "git diff",
  "git show",
  "git add",
  "git commit",
  "git stash",
  "git switch",
  "git checkout -b",
  "git tag",
  "git restore",
];

/** Programs that write beside their work: what they leave is thrown away unless a call asks for more. */
const inLayers = ["npx vitest", "npx vite", "npx jest", "npx mocha", "npx tsc", "npx eslint", "make", "go"];

/** The toolset `commands` that a manifest can have: a worker that names it runs command lines by these rules. */
export function renderCommands(): string {
  const free = "approval_required: false";
  const rules = [
    "# What is left of these is thrown away, unless a call asks for more.",
    ...inLayers.map((pattern) => `- { pattern: ${pattern}, scratch: true, ${free} }`),
    "# These may do in the project whatever they like, but to protected names such as package.json, .git and .env.",
    ...inProject.map((pattern) => `- { pattern: ${pattern}, writes: [project], ${free} }`),
    "# These write the repository too; hooks and configuration of git stay closed.",
    ...withGit.map((pattern) => `- { pattern: ${pattern}, writes: [project], opens: [.git], ${free} }`),
  ];
  return `# Workers that name \`commands\` run command lines in their scope \`project\`, by these rules. Everything else asks.
toolsets:
  commands:
    _use: shell
${looks}
    rules:
${rules.map((line) => `      ${line}\n`).join("")}    default: { approval_required: true }
`;
}
