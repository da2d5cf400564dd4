/** Folders that package managers fill with thousands of files, which are not edited one by one. */
export const dependencyFolders: ReadonlySet<string> = new Set([
  "node_modules",
  "bower_components",
  ".venv",
  "venv",
  "site-packages",
  "__pycache__",
  ".tox",
]);
