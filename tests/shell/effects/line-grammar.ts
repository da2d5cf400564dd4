import * as fc from "fast-check";
import { readRows } from "./lines.ts";

const places = [
  ..."canary docs/canary out/canary out/old.txt out/notes/a.md free/a.txt small/a.txt src/index.ts".split(" "),
  ..."package.json .env .git/config .git/hooks/pre-commit .git/HEAD main.worker tools.ts .vscode/settings.json .envrc sub/.git".split(
    " ",
  ),
  ..."secret/key.txt src/to-secret/key.txt out/to-outside/file ../outside/file vault/.env vault/.git/config".split(" "),
  ..."fifo socket node_modules/fifo node_modules/dep/index.js /tmp/x ~/.netrc $PWD/canary ./dashes/-delete".split(" "),
];
const place = fc.constantFrom(...places);

const oneLine = (row: string) => !row.includes("\n");
const written = readRows("writing.txt").filter(oneLine);
const read = readRows("reading.txt").filter(oneLine);
const ordinary = readRows("ordinary.txt").filter(oneLine);

const simple = fc
  .tuple(
    fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...written) }, fc.constantFrom(...read), fc.constantFrom(...ordinary)),
    place,
  )
  .map(([row, at]) => row.replaceAll(/\{[TS]\}/g, at));

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const frames: readonly ((inner: string, at: string) => string)[] = [
  (inner) => `(${inner})`,
  (inner) => `{ ${inner}; }`,
  (inner) => `! ${inner}`,
  (inner) => `if true; then ${inner}; fi`,
  (inner) => `for i in 1 2; do ${inner}; done`,
  (inner) => `while ${inner}; do break; done`,
  (inner) => `case x in x) ${inner} ;; esac`,
  (inner) => `f() { ${inner}; }; f`,
  (inner) => `bash -c ${quoted(inner)}`,
  (inner) => `eval ${quoted(inner)}`,
  (inner) => `sh <<< ${quoted(inner)}`,
  (inner) => `timeout 2 bash -c ${quoted(inner)}`,
  (inner) => `env X=1 sh -c ${quoted(inner)}`,
  (inner) => `find . -maxdepth 0 -exec sh -c ${quoted(inner)} \\;`,
  (inner) => `echo 1 | xargs -I@ sh -c ${quoted(inner)}`,
  (inner) => `git -c alias.z=${quoted(`!${inner}`)} z`,
  (inner) => `npm run env -- sh -c ${quoted(inner)}`,
  (inner) => `python3 -c ${quoted(`import os; os.system(${JSON.stringify(inner)})`)}`,
  (inner) => `echo "$(${inner})"`,
  (inner) => `cat <(${inner})`,
  (inner) => `${inner} > >(cat)`,
  (inner) => `trap ${quoted(inner)} EXIT`,
  (inner) => `cd src && ${inner}`,
  (inner) => `cd out; ${inner}`,
  (inner) => `set -x; ${inner}`,
  (inner) => `time ${inner}`,
  (inner) => `X=1 Y=$(${inner})`,
  (inner) => `(${inner}) &\nwait`,
  (inner, at) => `{ ${inner}; } > ${at}`,
  (inner, at) => `{ ${inner}; } >> ${at} 2>&1`,
  (inner, at) => `{ ${inner}; } < ${at}`,
  (inner, at) => `{ ${inner}; } 2>&1 | tee ${at}`,
];

const framed = fc
  .tuple(simple, fc.array(fc.tuple(fc.constantFrom(...frames), place), { maxLength: 3 }))
  .map(([inner, around]) => around.reduce((text, [frame, at]) => frame(text, at), inner));

/** Random command lines: what writes, reads and works ordinarily, in all that the shell and starters put around it. */
export const randomLine: fc.Arbitrary<string> = fc
  .array(fc.tuple(framed, fc.constantFrom("; ", " && ", " || ", " | ", "\n", " |& ")), { minLength: 1, maxLength: 3 })
  .map((parts) => parts.map(([text, operator], index) => (index === parts.length - 1 ? text : text + operator)).join(""))
  .filter((text) => text.length < 4000);
