import { nameSet } from "../../util/text/name-set.ts";

/** Programs and libraries, by the file system standard or by custom; no place for a user's data. */
export const programFolders: readonly string[] = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/libx32",
  "/opt",
  "/nix/store",
  "/gnu/store",
];

/** Folders that package managers fill with thousands of files, which are not edited one by one. */
export const dependencyFolders = nameSet("node_modules bower_components .venv venv site-packages __pycache__ .tox");
