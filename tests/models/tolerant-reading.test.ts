import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createModelResolver } from "../../src/models/create-model-resolver.ts";
import { dialects } from "./dialects.ts";
import { generate, readFile, request, user } from "./fixtures.ts";
import {
  type FullAnswer,
  fullBedrock,
  fullChat,
  fullCohere,
  fullGoogle,
  fullMessages,
  fullResponses,
  fullSearch,
} from "./full-answers.ts";
import { asksForStream, type LocalServer, sendEvents, sendJson, startServer, testEnvironment } from "./local-server.ts";
import { ownDialects } from "./own-dialects.ts";

const own: Readonly<Record<string, FullAnswer>> = {
  ...{ anthropic: fullMessages, openai: fullResponses, xai: fullResponses, azure: fullResponses, fullSearch },
  ...{ google: fullGoogle, vertex: fullGoogle, bedrock: fullBedrock, cohere: fullCohere },
};

/** `npm test` tries a slice of the changes, the long run all of them. */
const step = process.env["LLM_DO_FUZZ_RUNS"] ? 1 : 5;

/** One member of an answer, changed. */
interface Change {
  readonly name: string;
  readonly path: string;
  readonly value: unknown;
}

/** All answers that differ from one in a member that is unknown, null, absent or of another type. */
function changesOf(value: unknown, path = "", within = (changed: unknown): unknown => changed): Change[] {
  if (Array.isArray(value)) {
    const added = [{ type: "shiny_new", shinyNew: { a: [1] } }, null].map((element) => ({
      ...{ name: `${path}[] ${JSON.stringify(element)}`, path: `${path}.+`, value: within([...value, element]) },
    }));
    const inner = value.flatMap((element, index) =>
      changesOf(element, `${path}.${index}`, (changed) => within(value.with(index, changed))),
    );
    return [...added, ...inner];
  }
  if (typeof value !== "object" || value === null) return [];
  const added = { name: `${path}.shiny_new`, path: `${path}.+`, value: within({ ...value, shiny_new: { a: [1] } }) };
  const members = Object.entries(value).flatMap(([name, member]) => {
    const at = `${path}.${name}`;
    const { [name]: _, ...others } = value as Record<string, unknown>;
    const other = typeof member === "string" ? 7 : "shiny";
    return [
      { name: `${at} = null`, path: at, value: within({ ...value, [name]: null }) },
      { name: `${at} absent`, path: at, value: within(others) },
      { name: `${at} = ${JSON.stringify(other)}`, path: at, value: within({ ...value, [name]: other }) },
      ...changesOf(member, at, (changed) => within({ ...value, [name]: changed })),
    ];
  });
  return [added, ...members];
}

const isEssential = (essential: RegExp) => (change: Change) =>
  essential.test(change.path.slice(1).replace(/(?<=^|\.)\d+(?=\.|$)/g, "#"));

let server: LocalServer;
let answer: unknown;
let encode: FullAnswer["encode"];
beforeAll(async () => {
  server = await startServer((response, asked) =>
    asksForStream({ ...asked, path: asked.path.replace(/\?.*/, "") })
      ? sendEvents(response, encode(answer as never))
      : sendJson(response, answer),
  );
});
afterAll(() => server[Symbol.asyncDispose]());

describe.each([...dialects, ...ownDialects].map((dialect) => [dialect.name, dialect] as const))("%s", (name, dialect) => {
  const full = own[name] ?? (name === "perplexity" ? fullSearch : fullChat);
  const tools = name === "perplexity" ? [] : [readFile];
  const asked = request([user("Look")], { tools });

  test.each([false, true])(
    "loses no answer for a member that is unknown, null, absent or of another type (streamed: %s)",
    async (streaming) => {
      const model = await createModelResolver(testEnvironment(dialect.variables(server.url)))(dialect.model);
      encode = full.encode;
      const ask = async (value: unknown) => {
        answer = value;
        const { response } = await generate(model, asked, streaming);
        const texts = response.message.parts.flatMap((part) => (part.type === "text" ? part.text : []));
        const calls = response.message.parts.flatMap((part) => (part.type === "tool-call" ? [[part.name, part.args]] : []));
        return { text: texts.join(""), calls, whole: response.finish === "stop" || response.finish === "tool-calls" };
      };
      const whole = streaming ? full.events : full.body;
      const wanted = await ask(whole);
      expect(wanted.text).toContain(full.texts);
      const isNeeded = isEssential(streaming ? full.essentialInStream : full.essential);
      const lost: string[] = [];
      const changes = changesOf(whole).filter((one) => !isNeeded(one));
      for (const change of changes.filter((_, index) => index % step === 0)) {
        const got = await ask(change.value).catch((error: Error) => error.message);
        if (JSON.stringify(got) !== JSON.stringify(wanted)) lost.push(`${change.name}: ${JSON.stringify(got)}`);
      }
      expect(lost).toEqual([]);
    },
    60_000,
  );
});
