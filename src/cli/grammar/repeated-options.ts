import { type Command, InvalidArgumentError, Option } from "commander";

type Gatherer<T> = (value: string, previous?: T) => T;

/** The parsers of options that can be repeated. */
const gatherers = new Set<unknown>();

/** Says of a parser that it gathers the values of an option, which can be repeated. */
export function gathering<T>(parse: Gatherer<T>): Gatherer<T> {
  gatherers.add(parse);
  return parse;
}

/** Gathers values in their order. */
export const collect: Gatherer<readonly string[]> = gathering((value, previous = []) => [...previous, value]);

/** Makes an option of choices that can be repeated. */
export function choicesOption(flags: string, description: string, choices: readonly string[]): Option {
  const option = new Option(flags, description).choices(choices);
  return option.argParser(
    gathering<readonly string[]>((value, previous = []) => {
      if (choices.includes(value)) return [...previous, value];
      throw new InvalidArgumentError(`Allowed choices are ${choices.join(", ")}.`);
    }),
  );
}

/** Adds a value under its name. Throws for a name that has one: the last would win silently. */
export function addNamed<T>(previous: Readonly<Record<string, T>>, name: string, value: T): Readonly<Record<string, T>> {
  if (Object.hasOwn(previous, name)) throw new InvalidArgumentError(`\`${name}\` is given twice.`);
  return { ...previous, [name]: value };
}

/** Refuses a second value of options that take one: the last would win silently. */
export function refuseRepeated(command: Command): void {
  for (const option of command.options) {
    if (!(option.required || option.optional) || option.variadic || gatherers.has(option.parseArg)) continue;
    let isGiven = false;
    command.on(`option:${option.name()}`, () => {
      if (isGiven) command.error(`error: ${option.long ?? option.flags} is given twice, and takes one value`);
      isGiven = true;
    });
  }
}
