import { optionTable, readOptions } from "./options.ts";
import { type Hatch, hatch, type ReadProgram } from "./program.ts";

export const curlOptions = optionTable(
  `s|silent S|show-error f|fail L|location i|include I|head v|verbose g|globoff G|get N|no-buffer q|disable 4|ipv4 6|ipv6
  #|progress-bar V|version compressed fail-with-body no-progress-meter http1.1 http2 m|max-time= connect-timeout= retry= retry-delay=
  A|user-agent= H|header= e|referer= X|request= r|range= url= max-redirs= max-filesize= y|speed-time=`,
);

/** Fetching is what a rule for curl allows; sending, writing and everything unknown asks. */
export const readCurl: ReadProgram = ({ words }) => {
  const { options, operands, unknown } = readOptions(words, curlOptions);
  const hatches: Hatch[] = [];
  if (unknown !== undefined) hatches.push(hatch(`\`${unknown}\` can write, send or read files`));
  const methods = options.filter(({ name }) => name === "-X").map(({ value = "" }) => value);
  const changes = methods.find((method) => method !== "GET" && method !== "HEAD");
  if (changes !== undefined) hatches.push(hatch(`\`${changes}\` changes things elsewhere`));
  const reads = options.some(({ name, value }) => name === "-H" && value?.startsWith("@") === true);
  if (reads) hatches.push(hatch("a header with `@` sends a file"));
  const urls = [...operands.map((index) => words[index]?.value ?? ""), ...options.filter(({ name }) => name === "--url").map(({ value }) => value ?? "")]; // biome-ignore format: one list
  if (urls.some((url) => !isWebAddress(url))) hatches.push(hatch("only http and https are known to be harmless"));
  return { hatches, effect: "text" };
};

/** Spelt out as far as the path: `file:/x` is a file, and braces and brackets stand for several addresses. */
function isWebAddress(url: string): boolean {
  return /^(?:https?:\/\/)?(?:[\w.~%!$&'*+,;=:-]*@)?(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?(?:[/?#]|$)/i.test(url);
}
