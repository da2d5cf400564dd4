import { readOptions } from "./options.ts";
import { type Hatch, hatch, type ReadProgram } from "./program.ts";

const table = {
  flags: "sSfLiIvGgNq46#",
  valued: "mAHeXry",
  long: "--silent --show-error --fail --location --include --head --verbose --get --globoff --compressed --fail-with-body --no-buffer --no-progress-meter --http1.1 --http2 --ipv4 --ipv6 --version",
  longValued:
    "--max-time --connect-timeout --retry --retry-delay --user-agent --header --referer --request --range --url --max-redirs --max-filesize",
};

/** Fetching is what a rule for curl allows; sending, writing and everything unknown asks. */
export const readCurl: ReadProgram = ({ words }) => {
  const { options, operands, unknown } = readOptions(words, table);
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` can write, send or read files`));
  const method = options.find(({ name }) => name === "-X" || name === "--request")?.value;
  if (method !== undefined && method !== "GET" && method !== "HEAD")
    hatches.push(hatch(`\`${method}\` changes things elsewhere`));
  const reads = options.some(({ name, value }) => (name === "-H" || name === "--header") && value?.startsWith("@") === true);
  if (reads) hatches.push(hatch("a header with `@` sends a file"));
  const urls = [...operands.map((index) => words[index]?.value ?? ""), ...options.filter(({ name }) => name === "--url").map(({ value }) => value ?? "")]; // biome-ignore format: one list
  if (urls.some((url) => !isWebAddress(url))) hatches.push(hatch("only http and https are known to be harmless"));
  return { hatches, effect: "text" };
};

function isWebAddress(url: string): boolean {
  const scheme = url.includes("://") ? url.slice(0, url.indexOf("://")).toLowerCase() : "https";
  return (scheme === "http" || scheme === "https") && !url.startsWith("@");
}
