import type { ValueType } from "./value-types.ts";

/** What a name means at a place of a template. */
export interface Variable {
  readonly type: ValueType;
  /** Whether it is a field of the input. */
  readonly isField: boolean;
}

const loopFields = ["first", "last", "index", "index0", "rindex", "rindex0", "length"];
const loopType: ValueType = {
  type: "object",
  properties: Object.fromEntries(loopFields.map((name) => [name, {}])),
  additionalProperties: false,
};

/** The names that one text can use, as they come and go from its beginning to its end. */
export class TemplateScope {
  /** The input's fields; undefined where they are not known, and any name may be one. */
  readonly #fields: ReadonlyMap<string, ValueType> | undefined;
  readonly #locals = new Map<string, ValueType>();
  readonly #loops: string[] = [];
  readonly #loopTypes: ValueType[] = [];
  readonly assigned = new Set<string>();

  constructor(fields: ReadonlyMap<string, ValueType> | undefined, given: Iterable<string>) {
    this.#fields = fields;
    for (const name of given) this.#locals.set(name, undefined);
  }

  lookUp(name: string): Variable | undefined {
    const loop = this.#loops.lastIndexOf(name);
    if (loop >= 0) return { type: this.#loopTypes[loop], isField: false };
    if (name === "forloop" && this.#loops.length > 0) return { type: loopType, isField: false };
    if (this.#locals.has(name)) return { type: this.#locals.get(name), isField: false };
    if (this.#fields === undefined) return { type: undefined, isField: true };
    return this.#fields.has(name) ? { type: this.#fields.get(name), isField: true } : undefined;
  }

  assign(name: string, type: ValueType): void {
    this.#locals.set(name, this.assigned.has(name) ? undefined : type);
    this.assigned.add(name);
  }

  enterLoop(name: string, type: ValueType): void {
    this.#loops.push(name);
    this.#loopTypes.push(type);
  }

  leaveLoop(): void {
    this.#loops.pop();
    this.#loopTypes.pop();
  }

  get inLoop(): boolean {
    return this.#loops.length > 0;
  }

  /** Every name that can be used here. */
  names(): Set<string> {
    return new Set([...this.#loops, ...this.#locals.keys(), ...(this.#fields?.keys() ?? [])]);
  }
}
