// Marks in a bundle the functions that a first request calls. V8 reads a function once to skip it and once more to compile it when it is first
// called, and Node's compile cache holds only what was compiled with its file. A function expression in parentheses is compiled with its file.
import { readFileSync } from "node:fs";
import { RolldownMagicString, type RolldownPlugin } from "rolldown";
import { parseSync } from "rolldown/utils";

/** Names of functions, one on a line. `tests/cli/start-functions.test.ts` writes the file. */
const names = new Set(readFileSync(new URL("start-functions.txt", import.meta.url), "utf8").split("\n"));

/** Turns declarations into variables at the beginning of the file, where all code finds them that found the declarations. */
export const startFunctions: RolldownPlugin = {
  name: "start-functions",
  renderChunk(code) {
    const text = new RolldownMagicString(code);
    for (const node of parseSync("chunk.js", code).program.body) {
      if (node.type !== "FunctionDeclaration" || !node.id) continue;
      const { start, end, id } = node;
      // Rolldown numbers functions that share a name.
      if (!names.has(id.name.replace(/\$\d+$/, ""))) continue;
      text.prependRight(start, `var ${id.name} = (`).appendLeft(end, ");\n").remove(id.start, id.end).move(start, end, 0);
    }
    return text;
  },
};
