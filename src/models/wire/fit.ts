import { isRecord } from "../../protocol/json.ts";

/**
 * The tolerant reading of answers. A provider library rejects a whole answer for one member that it does not expect, so a wire format
 * says of each member beside the answer itself what the library takes. A `Fit` returns a value in that form, or undefined for one that
 * is left out. It changes records in place. Members that a format does not name stay as they are.
 */
export type Fit = (value: unknown) => unknown;

export const text: Fit = (value) => (typeof value === "string" ? value : undefined);
export const count: Fit = (value) => (typeof value === "number" ? value : undefined);
export const flag: Fit = (value) => (typeof value === "boolean" ? value : undefined);
/** Members that nothing reads. */
export const unread: Fit = () => undefined;
export const object: Fit = (value) => (isRecord(value) ? value : undefined);
/** An answer without it is none that can be read: the library rejects it. */
export const kept: Fit = (value) => value;

/** One of some words. */
export const oneOf =
  (...words: readonly string[]): Fit =>
  (value) =>
    words.includes(value as string) ? value : undefined;

/** A member that a library requires. */
export const or =
  (inner: Fit, fallback: unknown): Fit =>
  (value) =>
    inner(value) ?? structuredClone(fallback);

export type Members = Readonly<Record<string, Fit>>;

/** A record. One that lacks a member in `needed` is left out as a whole. */
export const record =
  (members: Members, needed: readonly string[] = []): Fit =>
  (value) => {
    if (!isRecord(value)) return undefined;
    for (const name of Object.keys(members)) {
      const fitted = members[name]?.(value[name]);
      if (fitted !== undefined) value[name] = fitted;
      else if (needed.includes(name)) return undefined;
      else delete value[name];
    }
    return value;
  };

/** A list. Elements that do not fit are left out. */
export const list =
  (inner: Fit): Fit =>
  (value) =>
    Array.isArray(value) ? value.map(inner).filter((element) => element !== undefined) : undefined;

/** The same for a list that is the answer itself: the library rejects anything else in its place. */
export const parts =
  (inner: Fit): Fit =>
  (value) =>
    list(inner)(value) ?? value ?? undefined;

/** Records of several kinds, told apart by a member. A kind that is not among them is left out. */
export const kinds =
  (of: Readonly<Record<string, Fit>>, by = "type"): Fit =>
  (value) => {
    const kind = isRecord(value) ? value[by] : undefined;
    return typeof kind === "string" && Object.hasOwn(of, kind) ? of[kind]?.(value) : undefined;
  };
