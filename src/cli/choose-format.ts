import { UsageError } from "./exit-codes.ts";

/** The format of `--format`, for which `--json` is short. Throws a `UsageError` if they say different things. */
export function chooseFormat<Format extends string>(
  { format, json = false }: { readonly format: Format; readonly json?: boolean },
  inJson: Format,
): Format {
  if (!json) return format;
  if (format === "text" || format === inJson) return inJson;
  throw new UsageError(`--json and --format ${format} say different things; leave one of them out`);
}
