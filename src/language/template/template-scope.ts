import type { ValueType } from "./value-types.ts";

/** The meaning of a name at a point of a template. */
export interface Variable {
  readonly type: ValueType;
  /** It is a field of the input, not a local name. */
  readonly isField: boolean;
}

const loopFields = ["first", "last", "index", "index0", "rindex", "rindex0", "length"];
const loopType: ValueType = {
  type: "object",
  properties: Object.fromEntries(loopFields.map((name) => [name, {}])),
  additionalProperties: false,
};

type Names = ReadonlyMap<string, ValueType>;

/** The names that one text can use, as they come and go from its beginning to its end. */
export class TemplateScope {
  /** The input's fields; undefined if they are not known, and any name may be one. */
  readonly #fields: Names | undefined;
  readonly #locals: Map<string, ValueType>;
  readonly #loops: Names[] = [];
  readonly assigned = new Set<string>();

  constructor(fields: Names | undefined, given: Iterable<string>) {
    this.#fields = fields;
    this.#locals = new Map([...given].map((name) => [name, undefined]));
  }

  lookUp(name: string): Variable | undefined {
    const local = [this.#locals, ...this.#loops].findLast((names) => names.has(name));
    if (local) return { type: local.get(name), isField: false };
    return this.#fields?.has(name) === false ? undefined : { type: this.#fields?.get(name), isField: true };
  }

  assign(name: string, type: ValueType): void {
    this.#locals.set(name, this.assigned.has(name) ? undefined : type);
    this.assigned.add(name);
  }

  enterLoop(name: string, type: ValueType): void {
    this.#loops.push(
      new Map([
        ["forloop", loopType],
        [name, type],
      ]),
    );
  }

  leaveLoop(): void {
    this.#loops.pop();
  }

  get inLoop(): boolean {
    return this.#loops.length > 0;
  }

  /** Every name that can be used here, without those that the engine adds. */
  names(): Set<string> {
    const names = [...this.#loops.toReversed(), this.#locals, ...(this.#fields ? [this.#fields] : [])];
    return new Set(names.flatMap((some) => [...some.keys()].filter((name) => name !== "forloop")));
  }
}
