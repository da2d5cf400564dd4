import { expect, test } from "vitest";
import { diagnose } from "./diagnose.ts";
import type { Diagnostic } from "./diagnostic.ts";
import { renderGithubAnnotations } from "./render-github-annotations.ts";
import { toSarif } from "./to-sarif.ts";

function diagnosticIn(name: string, text = "abc\ndef\n", end = 3): Diagnostic {
  return diagnose("unknown-key", { message: "m", span: { source: { name, text }, start: 1, end } });
}

function uriOf(diagnostic: Diagnostic): string | undefined {
  return toSarif([diagnostic], "1.2.3").runs[0].results[0]?.locations?.[0]?.physicalLocation.artifactLocation.uri;
}

test("nothing of a message or a name ends an annotation, or begins another", () => {
  const diagnostic = diagnose("unknown-key", {
    message: "100% ::error::\nnext\r",
    span: { source: { name: "a,b:c%\n.worker", text: "abc" }, start: 0, end: 2 },
  });
  expect(renderGithubAnnotations([diagnostic])).toBe(
    "::error file=a%2Cb%3Ac%25%0A.worker,line=1,col=1,endLine=1,endColumn=2,title=unknown-key::100%25 ::error::%0Anext\\u{D}\n",
  );
});

test("an annotation of several lines has no last column, and a point is one column wide", () => {
  expect(renderGithubAnnotations([diagnosticIn("a.worker", "abc\ndef\n", 6)])).toContain("line=1,col=2,endLine=2,title=");
  expect(renderGithubAnnotations([diagnosticIn("a.worker", "abc", 1)])).toContain("col=2,endLine=1,endColumn=2,");
});

test("warnings and hints have their own levels", () => {
  const diagnostics = [diagnose("yaml-comment", { message: "w" }), diagnose("model-unset", { message: "h" })];
  expect(renderGithubAnnotations(diagnostics)).toBe("::warning title=yaml-comment::w\n::notice title=model-unset::h\n");
  const [{ results, tool }] = toSarif(diagnostics, "1.2.3").runs;
  expect(results.map(({ level }) => level)).toEqual(["warning", "note"]);
  expect(tool.driver).toMatchObject({ name: "llm-do", version: "1.2.3" });
  expect(renderGithubAnnotations([])).toBe("");
});

test.each(["--set main.model=x", "LLM_DO_MODEL"])("%s is no file", (name) => {
  const diagnostic = diagnosticIn(name);
  expect(renderGithubAnnotations([diagnostic])).toBe(`::error title=unknown-key::m (in ${name})\n`);
  expect(uriOf(diagnostic)).toBeUndefined();
});

test.each([
  ["workers/a b.worker", "workers/a%20b.worker"],
  ["c:d#e?.worker", "c%3Ad%23e%3F.worker"],
  ["../\ud800.worker", "../%EF%BF%BD.worker"],
])("%s as a URI", (name, uri) => {
  expect(uriOf(diagnosticIn(name))).toBe(uri);
});

test.skipIf(process.platform === "win32")("an absolute path as a URI", () => {
  expect(uriOf(diagnosticIn("/a b/c.worker"))).toBe("file:///a%20b/c.worker");
});

test("notes are part of the message, and those with a place are related locations", () => {
  const source = { name: "a.worker", text: "abc\ndef" };
  const notes = [{ message: "write it" }, { message: "the first", span: { source, start: 4, end: 5 } }];
  const diagnostic = diagnose("duplicate-key", { message: "twice", span: { source, start: 0, end: 1 }, notes });
  const [result] = toSarif([diagnostic], "1").runs[0].results;
  expect(result?.message.text).toBe("twice\nnote: write it\nnote: the first (a.worker:2)");
  expect(result?.relatedLocations?.map(({ id, message }) => [id, message?.text])).toEqual([[2, "the first"]]);
});
