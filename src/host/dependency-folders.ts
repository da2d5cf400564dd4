/** Folders that package managers fill: thousands of files of others, which nobody edits one by one. */
export const dependencyFolders: ReadonlySet<string> = new Set([
  "node_modules",
  "bower_components",
  ".venv",
  "venv",
  "site-packages",
  "__pycache__",
  ".tox",
]);
