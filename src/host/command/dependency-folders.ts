import { nameSet } from "../../util/text/name-set.ts";

/** Folders that package managers fill with thousands of files, which are not edited one by one. */
export const dependencyFolders = nameSet("node_modules bower_components .venv venv site-packages __pycache__ .tox");
