import type { Context, Emitter, Liquid, TagToken, Template, TopLevelToken } from "liquidjs";
import { isRecord } from "../../protocol/json.ts";
import { filterArities } from "./filters.ts";

/** The engine's package, which is only loaded for programs that have a template. */
export type LiquidModule = typeof import("liquidjs");

/** The tags of templates. Left out are those for HTML, for inheritance, and second ways to say the same. */
export const tagNames = [
  "if",
  "unless",
  "case",
  "for",
  "break",
  "continue",
  "assign",
  "capture",
  "comment",
  "raw",
  "render",
  "#",
];

/** A file that is rendered by another one, and the names that it assigns. */
export interface Partial {
  readonly templates: readonly Template[];
  readonly assigned: ReadonlySet<string>;
}

/** The input under which a rendering goes on: what partials see too. */
export const inputRegister = "llm-do input";

/** The names of a rendering's own, empty until something is assigned to them, and the values beside them. */
export function toScope(assigned: Iterable<string>, ...values: readonly object[]): object {
  const scope = Object.create(null) as Record<string, unknown>;
  for (const name of assigned) scope[name] = null;
  return Object.assign(scope, ...values) as object;
}

/** An engine with our tags and filters alone, that reads no file and gives up at the limits. */
export function createEngine(liquid: LiquidModule, partials: ReadonlyMap<string, Partial>): Liquid {
  const engine = new liquid.Liquid({
    templates: {},
    locale: "en-US",
    strictFilters: true,
    strictVariables: true,
    lenientIf: true,
    ownPropertyOnly: true,
    outputEscape: (value: unknown) => printValue(liquid.toValue(value)),
    parseLimit: templateLimits.characters,
    renderLimit: templateLimits.milliseconds,
    memoryLimit: templateLimits.memory,
  });
  for (const name of Object.keys(engine.filters)) if (!Object.hasOwn(filterArities, name)) engine.unregisterFilter(name);
  for (const name of Object.keys(engine.tags)) if (!tagNames.includes(name)) delete engine.tags[name];
  engine.registerTag("capture", boundedCapture(liquid));
  engine.registerTag("render", renderTag(liquid, partials));
  return engine;
}

/** Text as it is, nothing for nothing, everything else as JSON. */
export function printValue(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  return isRecord(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
}

/** Collects what is printed, and counts it. */
export class LimitedOutput implements Emitter {
  buffer = "";
  readonly #limit: Context["memoryLimit"];

  constructor(context: Context) {
    this.#limit = context.memoryLimit;
  }

  write(value: unknown): void {
    const text = printValue(value);
    this.#limit.use(text.length);
    this.buffer += text;
  }
}

/** The engine's own tag does not count what it collects. */
function boundedCapture({ CaptureTag }: LiquidModule): typeof CaptureTag {
  return class extends CaptureTag {
    override *render(context: Context): Generator<unknown, void, string> {
      const output = new LimitedOutput(context);
      yield this.liquid.renderer.renderTemplates(this.templates, context, output);
      context.bottom()[this.variable] = output.buffer;
    }
  };
}

/** Renders a file that was read and checked before; what it sees is the input and what it is given. */
function renderTag({ Tag, Hash }: LiquidModule, partials: ReadonlyMap<string, Partial>) {
  return class extends Tag {
    readonly #path: string;
    readonly #given: InstanceType<typeof Hash>;

    constructor(token: TagToken, rest: TopLevelToken[], engine: Liquid) {
      super(token, rest, engine);
      this.#path = toIncludePath(token.tokenizer.readQuoted()?.content ?? "") ?? "";
      this.#given = new Hash(token.tokenizer);
    }

    override *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      const partial = partials.get(this.#path);
      if (partial === undefined) throw new Error(`no file \`${this.#path}\` was read`);
      const given = (yield this.#given.render(context)) as object;
      const input = context.getRegister<object>(inputRegister);
      const inner = context.spawn(toScope(partial.assigned, input, given));
      inner.setRegister(inputRegister, input);
      yield this.liquid.renderer.renderTemplates([...partial.templates], inner, emitter);
    }
  };
}

/**
 * The path of a file to render, without `./`; undefined for one that could lead out of the folders if such files are
 * looked for, whatever the system makes of it.
 */
export function toIncludePath(written: string): string | undefined {
  if (written.length > 500 || /[\\\0:*?"<>|~]|^\/|[\u0001-\u001f]/.test(written)) return undefined;
  const parts = written.split("/").filter((part) => part !== "." && part !== "");
  return parts.length === 0 || parts.includes("..") ? undefined : parts.join("/");
}

/** Limits of templates, so that neither a careless author nor strange input can delay a run. */
export const templateLimits = {
  /** Characters of one text, and of a text with all that it renders. */
  characters: 200_000,
  allCharacters: 1_000_000,
  /** Places to fill in and tags, in one text. */
  places: 10_000,
  /** Characters of one of these. */
  place: 2_000,
  /** Blocks in one another. */
  depth: 50,
  /** Different files that are rendered. */
  files: 100,
  /** Mistakes reported of one text; each costs the engine a pass over the text. */
  problems: 50,
  /** Characters printed and list entries made, in one rendering. */
  memory: 10_000_000,
  milliseconds: 5_000,
} as const;
