import type { ShellWord } from "../parse/plan.ts";
import { isHarmlessAwkProgram } from "./awk-program.ts";
import { findOption } from "./options.ts";
import { type Hatch, hatch, notKnown, type ProgramStart, type Programs, type ProgramTraits, program, runs } from "./program.ts";
import { isHarmlessSedScript } from "./sed-script.ts";

type Look = NonNullable<ProgramTraits["look"]>;

/** A path that leads out of the folder that a command runs in. */
export function leavesFolder(path: string): boolean {
  return path.startsWith("/") || path.startsWith("~") || path.split("/").includes("..");
}

/**
 * `grep PATTERN FILE…`: the first operand and most values are no paths. `given`: options that take the pattern's place.
 * `paths`: options whose value is a path.
 */
function patternFirst(given: readonly string[], paths: readonly string[]): Look {
  return ({ options, operands, unknown }) => {
    // All words could be paths where an option is not understood.
    if (unknown !== undefined) return {};
    const texts = options.filter(({ name, value }) => value !== undefined && !paths.includes(name)).map(({ index }) => index);
    const pattern = findOption({ options }, ...given) === undefined ? operands.slice(0, 1) : [];
    return { texts: new Set([...texts, ...pattern]) };
  };
}

/** Patterns from a file outside the scopes: lines that do not match show what they are. */
const lookGrep: Look = (start) => {
  const isElsewhere = start.options.some(({ name, value = "" }) => name === "-f" && leavesFolder(value));
  const hatches = isElsewhere ? [hatch("`-f` reads patterns from a file elsewhere")] : [];
  return { ...patternFirst(["-e", "-f"], ["-f", "--exclude-from"])(start), hatches };
};

/**
 * Shell scripts that make the command line of a grep from their words. Versions of them quote apostrophes and line ends wrongly, and
 * split options at blanks.
 */
const lookGrepScript: Look = (start) => {
  const { hatches = [], ...more } = lookGrep(start);
  const isOdd = start.words.slice(1).some(({ kind, value, head }) => {
    return /['\n]|^-.*\s/.test(value) || (kind !== "static" && (head === "" || head.startsWith("-")));
  });
  const splits = start.options.some(({ name, value = "" }) => name !== "-e" && /\s/.test(value));
  return {
    ...more,
    hatches: [...hatches, ...(isOdd || splits ? [runs("it is a script that can run parts of its words")] : [])],
  };
};

/** jq's filter is a language that reads, and no more; but it can name modules that it reads, data among them. */
const lookJq: Look = (start) => ({ ...patternFirst(["-f"], [])(start), hatches: importsOf(start, jqImport) });

const jqImport = /(?:^|[;\n])\s*(?:import|include)\b/;

/** One yq gives its filter to jq. The other has a language with more ways, and takes a first operand that is a file for one. */
const lookYq: Look = (start) => ({
  hatches: [
    ...importsOf(start, jqImport),
    ...importsOf(start, /\bload\w*\s*[(#]/),
    ...importsOf(start, /\b(?:eval|system)\s*[(#]/).map(({ why }) => runs(why)),
  ].slice(-1),
});

function importsOf({ words }: Pick<ProgramStart, "words">, imports: RegExp): readonly Hatch[] {
  return words.some(({ value }) => imports.test(value)) ? [hatch("its filter reads files that it names")] : [];
}

/** `uniq INPUT OUTPUT`. Behind the first operand some programs take any word for the file to write, also `--` and `-c`. */
const secondIsWritten: Look = ({ words, operands: [first], unknown }) => {
  if (unknown !== undefined) return { effect: "write" };
  const isOneFile = first === undefined || (first === words.length - 1 && words[first]?.kind === "static");
  return isOneFile ? {} : { hatches: [hatch("its second operand is a file that it writes")], effect: "write" };
};

/** The last one of `-t` and `-d` counts. */
const lookCompressor: Look = (start) => {
  const looks = findOption(start, "-l", "-t") !== undefined && findOption(start, "-d") === undefined;
  if (start.unknown === undefined && (looks || findOption(start, "-c"))) return {};
  return { hatches: [hatch("it replaces files")], effect: "write" };
};

const lookUnzip: Look = (start) => {
  if (start.unknown === undefined && findOption(start, "-l", "-p", "-t", "-v", "-Z")) return {};
  return { hatches: [hatch("it unpacks files over others")], effect: "write" };
};

const lookPager: Look = ({ values }) => {
  const command = values.find((value) => value.startsWith("+"));
  return { hatches: command === undefined ? [] : [runs(`\`${command}\` is a command that it runs`)] };
};

const lookMan: Look = ({ values, unknown }) => {
  const isFile = unknown === undefined && values.some((value) => value.includes("/"));
  return { hatches: isFile ? [runs("a page from a file can run programs")] : [] };
};

/** `date 01021530` sets the clock as `-s` does. */
const lookDate: Look = ({ words, operands }) => {
  const sets = operands.some((index) => words[index]?.head.startsWith("+") !== true);
  return { hatches: sets ? [hatch("it sets the clock")] : [] };
};

/** sed's own language writes files and runs programs: only scripts that are understood are free. */
const lookSed: Look = ({ words, options, operands, values, unknown }) => {
  const given = options.filter(({ name }) => name === "-e");
  const texts = given.length > 0 ? given.map(({ index }) => index) : operands.slice(0, 1);
  // Scripts are joined by line ends before they are read.
  const script = given.length > 0 ? given.map(({ value = "" }) => value).join("\n") : (values[0] ?? "");
  const isKnown = texts.every((index) => words[index]?.kind === "static") && isHarmlessSedScript(script);
  const hatches = isKnown ? [] : [runs("its script can write files or run programs")];
  return { hatches, effect: unknown === undefined ? "read" : "write", texts: new Set(texts) };
};

/** awk runs programs and writes files from its own language. */
const lookAwk: Look = ({ words, options, operands, values }) => {
  const hatches: Hatch[] = [];
  const program: ShellWord | undefined = words[operands[0] ?? words.length];
  if (program !== undefined && (program.kind !== "static" || !isHarmlessAwkProgram(program.value))) {
    hatches.push(runs("its program can write files or run programs"));
  }
  // gawk reads from a connection where a file has such a name.
  if (values.some((value) => value.startsWith("/inet"))) hatches.push(hatch("`/inet` connects to another machine"));
  return { hatches, effect: "read", texts: new Set([...options.map(({ index }) => index), ...operands.slice(0, 1)]) };
};

/** Fetching is what a rule for curl allows. Sending, writing and everything unknown asks. */
const lookCurl: Look = ({ options, values }) => {
  const valuesOf = (wanted: string) => options.flatMap(({ name, value = "" }) => (name === wanted ? [value] : []));
  const hatches: Hatch[] = [];
  const method = valuesOf("-X").find((one) => one !== "GET" && one !== "HEAD");
  if (method !== undefined) hatches.push(hatch(`\`${method}\` changes things elsewhere`));
  if (valuesOf("-H").some((header) => header.startsWith("@"))) hatches.push(hatch("a header with `@` sends a file"));
  const isElsewhere = ![...values, ...valuesOf("--url")].every(isWebAddress);
  if (isElsewhere) hatches.push(hatch("only http and https are known to be harmless"));
  return { hatches, effect: "text" };
};

/** Spelt out as far as the path: `file:/x` is a file, and braces and brackets stand for several addresses. */
function isWebAddress(url: string): boolean {
  return /^(?:https?:\/\/)?(?:[\w.~%!$&'*+,;=:-]*@)?(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?(?:[/?#]|$)/i.test(url);
}

const ofGrep = `E|extended-regexp F|fixed-strings G|basic-regexp P|perl-regexp e|regexp= f|file= i|y|ignore-case no-ignore-case w|word-regexp
  x|line-regexp z|null-data s|no-messages v|invert-match V|version help m|max-count= b|byte-offset n|line-number line-buffered
  H|with-filename h|no-filename label= o|only-matching q|quiet|silent binary-files= a|text I d|directories= D|devices= r|recursive
  R|dereference-recursive include= exclude= exclude-from= exclude-dir= L|files-without-match l|files-with-matches c|count
  T|initial-tab Z|null B|before-context= A|after-context= C|context= group-separator= no-group-separator color|colour? U|binary u`;

const grep = program(ofGrep, { digits: true, look: lookGrep });
const grepScript = program(ofGrep, { digits: true, look: lookGrepScript });

const compressor = program(
  "c|stdout|to-stdout d|decompress|uncompress l|list k|keep t|test v|verbose q|quiet n|no-name 1 2 3 4 5 6 7 8 9",
  { first: true, look: lookCompressor },
);

/** These write to their output. Others of the same names have options for the program that decompresses. */
const decompressor = program("c|stdout|to-stdout d|decompress f|force l|list k|keep t|test v|verbose q|quiet help V|version");

/** Values of its letters can hold further options, so that only flags are known. */
const pager = program("N S R F X e E i I M m n r s f d c Q q g G w W a A B J u U V L help version", {
  runs: /^-/,
  look: lookPager,
});

/** Programs that read what they are given, but for options that are marked or not named here. */
export const readers: Programs = {
  grep,
  egrep: grep,
  fgrep: grep,
  ...Object.fromEntries(
    ["", "e", "f"].flatMap((kind) => ["z", "bz", "xz", "lz"].map((packer) => [`${packer}${kind}grep`, grepScript] as const)),
  ),
  zstdgrep: grepScript,
  jq: program(
    `c|compact-output n|null-input e|exit-status s|slurp r|raw-output R|raw-input C|color-output M|monochrome-output S|sort-keys
    a|ascii-output j|join-output tab indent= unbuffered stream stream-errors seq f|from-file h|help V|version build-configuration
    args jsonargs arg== argjson== raw-output0 !slurpfile== !rawfile== !argfile== !L= !library-path=`,
    { look: lookJq },
  ),
  rg: program(
    `A|after-context= auto-hybrid-regex B|before-context= binary no-binary block-buffered b|byte-offset s|case-sensitive color=
    colors= column no-column C|context= context-separator= no-context-separator c|count count-matches crlf debug dfa-size-limit=
    E|encoding= field-context-separator= field-match-separator= f|file= files l|files-with-matches files-without-match
    F|fixed-strings no-fixed-strings L|follow no-follow g|glob= glob-case-insensitive h|help heading .|hidden no-hidden
    hyperlink-format= iglob= i|ignore-case ignore-file= ignore-file-case-insensitive include-zero v|invert-match json line-buffered
    n|line-number x|line-regexp M|max-columns= max-columns-preview m|max-count= max-depth|maxdepth= max-filesize= mmap U|multiline
    multiline-dotall no-config I|no-filename no-heading no-ignore no-ignore-dot no-ignore-exclude no-ignore-files no-ignore-global
    no-ignore-messages no-ignore-parent no-ignore-vcs ignore N|no-line-number no-messages no-mmap no-pcre2-unicode no-require-git
    no-unicode 0|null null-data one-file-system o|only-matching passthru|passthrough path-separator= P|pcre2 pcre2-version pre-glob=
    no-pre p|pretty q|quiet regex-size-limit= e|regexp= r|replace= S|smart-case sort= sortr= stats a|text j|threads= trim t|type=
    type-add= type-clear= type-list T|type-not= u|unrestricted V|version vimgrep H|with-filename w|word-regexp trace
    stop-on-nonmatch !pre= !hostname-bin= !z|search-zip`,
    { runs: /^--(?:p|ho)/, look: patternFirst(["-e", "-f", "--files", "--type-list"], ["-f", "--ignore-file"]) },
  ),
  ag: program(
    `ackmate A|after? B|before? break nobreak no-break c|count color nocolor no-color color-line-number= color-match= color-path=
    column filename nofilename no-filename H|heading noheading no-heading C|context? group nogroup no-group l|files-with-matches
    L|files-without-matches print-all-files numbers nonumbers no-numbers o|only-matching print-long-lines passthrough|passthru silent
    stats stats-only vimgrep 0|null|print0 a|all-types D|debug depth= f|follow F|Q|fixed-strings|literal G|file-search-regex= hidden
    i|ignore-case ignore= ignore-dir= m|max-count= one-device p|path-to-ignore= s|case-sensitive S|smart-case search-binary t|all-text
    u|unrestricted U|skip-vcs-ignores v|invert-match V|version help w|word-regexp W|width= list-file-types g|filename-pattern= h !z|search-zip !pager=`,
    { runs: /^--pa/, look: patternFirst(["-g"], ["-p"]) },
  ),
  ack: program(
    `f g l|files-with-matches L|files-without-matches c|count i|ignore-case S|smart-case nosmart-case no-smart-case I|no-ignore-case
    v|invert-match w|word-regexp Q|literal range-start= range-end= match= o passthru m|max-count= 1 H|with-filename h|no-filename
    column nocolumn A|after-context= B|before-context= C context? print0 s nopager heading noheading break nobreak group nogroup
    proximate? P underline nounderline color|colour nocolor|nocolour color-filename= color-match= color-colno= color-lineno=
    help-colors help-rgb-colors flush sort-files show-types ignore-dir|ignore-directory= noignore-dir|noignore-directory= ignore-file=
    r|R|recurse n|no-recurse follow nofollow t|type= T= k|known-types help-types version noenv help !output= !pager? !ackrc=
    !files-from= !x`,
    { runs: /^--(?:pa|a)/, look: patternFirst(["--match", "-f"], ["--ignore-file"]) },
  ),
  sort: program(
    `b|ignore-leading-blanks d|dictionary-order f|ignore-case g|general-numeric-sort i|ignore-nonprinting M|month-sort
    h|human-numeric-sort n|numeric-sort R|random-sort random-source= r|reverse sort= V|version-sort batch-size= c check? C debug k|key=
    m|merge s|stable S|buffer-size= t|field-separator= parallel= u|unique z|zero-terminated help version !o|output=
    !T|temporary-directory= !compress-program= !files0-from=`,
    { runs: /^--c/ },
  ),
  // macOS has -o, and -i with a value.
  base64: program("d|decode D w|wrap= help version"),
  shuf: program("e|echo i|input-range= n|head-count= random-source= r|repeat z|zero-terminated help version !o|output="),
  iconv: program("f|from-code= t|to-code= l|list c s|silent verbose help usage V|version !o|output="),
  wc: program("c|bytes m|chars l|lines L|max-line-length w|words total= help version !files0-from="),
  du: program(`0|null a|all A|apparent-size B|block-size= b|bytes c|total D|dereference-args d|max-depth= H h|human-readable g inodes k
    L|dereference l|count-links m P|no-dereference S|separate-dirs si s|summarize t|threshold= time? time-style= X|exclude-from=
    exclude= x|one-file-system help version !files0-from=`),
  date: program(
    `d|date= debug f|file= I|iso-8601? resolution R|rfc-email|rfc-2822 rfc-3339= r|reference= u|utc|universal help version j n v=
    !s|set=`,
    { look: lookDate },
  ),
  file: program(`v|version m|magic-file= b|brief c|checking-printout e|exclude= exclude-quiet= f|files-from= F|separator= i|mime apple extension
    mime-type mime-encoding k|keep-going l|list L|dereference h|no-dereference n|no-buffer N|no-pad 0|print0 p|preserve-date
    P|parameter= r|raw s|special-files d|debug help I !z|uncompress !Z|uncompress-noreport !S|no-sandbox !C|compile`),
  tree: program(
    `a d f i l x L= P= I= gitignore gitfile= ignore-case matchdirs metafirst info infofile= prune filelimit= noreport timefmt= q N Q p
    u g s h si D F inodes device v t c U r dirsfirst filesfirst sort= A S n C X J T= nolinks charset= fromfile fflinks version help du
    !R !o= !H= !hintro= !houtro=`,
    { apart: true },
  ),
  zcat: decompressor,
  bzcat: decompressor,
  xzcat: decompressor,
  yq: program(
    `y|yaml-output Y|yaml-roundtrip w|width= c|compact-output n|null-input e|exit-status r|raw-output R|raw-input C|color-output|colors
    M|monochrome-output|no-colors S|sort-keys tab arg== argjson== o|output-format= p|input-format= P|prettyPrint N|no-doc I|indent=
    j|tojson v|verbose V|version h|help unwrapScalar? !i|inplace|in-place !s !split-exp= !split-exp-file=`,
    // That of Python gives what follows `--` to jq, without the dashes.
    { ends: false, look: lookYq },
  ),
  sdiff: program(
    `i|ignore-case E|ignore-tab-expansion Z|ignore-trailing-space b|ignore-space-change W|ignore-all-space B|ignore-blank-lines
    I|ignore-matching-lines= strip-trailing-cr a|text w|width= l|left-column s|suppress-common-lines t|expand-tabs tabsize= d|minimal
    H|speed-large-files help v|version !o|output= !diff-program=`,
    { runs: /^--d/ },
  ),
  diff3: program(
    `A|show-all e|ed E|show-overlap 3|easy-only x|overlap-only X i m|merge a|text strip-trailing-cr T|initial-tab L|label= help
    v|version !diff-program=`,
    { runs: /^--d/ },
  ),
  fd: program(
    `H|hidden I|no-ignore no-ignore-vcs no-ignore-parent u|unrestricted s|case-sensitive i|ignore-case g|glob regex F|fixed-strings
    and= a|absolute-path l|list-details L|follow p|full-path 0|print0 d|max-depth= min-depth= exact-depth= E|exclude= prune t|type=
    e|extension= S|size= changed-within= changed-before= o|owner= ignore-file= c|color= j|threads= max-results= 1 q|quiet show-errors
    base-directory= path-separator= search-path= strip-cwd-prefix one-file-system h|help V|version !x|exec= !X|exec-batch=
    !batch-size=`,
    { runs: /^-[^-]*[xX]|^--e/ },
  ),
  bat: program(
    `A|show-all p|plain l|language= H|highlight-line= file-name= d|diff diff-context= tabs= wrap= terminal-width= n|number color=
    italic-text= decorations= f|force-colorization paging= m|map-syntax= ignored-suffix= theme= list-themes style= r|line-range=
    L|list-languages u|unbuffered h|help V|version !P !pager=`,
    { runs: /^--pag/ },
  ),
  uniq: program(
    `c|count d|repeated D all-repeated? f|skip-fields= group? i|ignore-case s|skip-chars= u|unique z|zero-terminated w|check-chars=
    help version`,
    { look: secondIsWritten },
  ),
  less: pager,
  more: pager,
  man: program("k|apropos f|whatis a|all w|where|path|location K|global-apropos help version", {
    otherwise: "can run programs",
    runs: /^-/,
    look: lookMan,
  }),
  xxd: program(
    `a|-autoskip b|-bits C|-capitalize c|-cols= d E|-EBCDIC e g|-group= i|-include l|-len= n|-name= o|-offset= p|-ps|-plain|-postscript
    s|-seek|-skip= u|-uppercase v|-version`,
    { style: "single-letters", look: secondIsWritten },
  ),
  gzip: compressor,
  gunzip: compressor,
  bzip2: compressor,
  bunzip2: compressor,
  xz: compressor,
  unxz: compressor,
  zstd: compressor,
  // `--` takes back the letters that follow it.
  unzip: program("l p t v Z 1 2 q z h", { first: true, ends: false, look: lookUnzip }),
  jobs: program("l n p r s", { otherwise: "can start a program", look: () => ({ effect: "text" }) }),
  sed: program(
    `n|quiet|silent E|r|regexp-extended s|separate u|unbuffered z|null-data posix sandbox debug help version e|expression=
  line-length= !i|in-place? !f|file=`,
    { otherwise: "is not known to be harmless (-i writes, -f runs a script)", runs: /^-[^-]*f|^--f/, look: lookSed },
  ),
  // Only letters take a value: the awk of macOS warns of a long option, and takes the word behind it for its program.
  awk: program("F= v= version help !f|file= !e|source= !E|exec= !i|include= !l|load=", {
    otherwise: notKnown,
    runs: /^-/,
    look: lookAwk,
  }),
  curl: program(
    `s|silent S|show-error f|fail L|location i|include I|head v|verbose g|globoff G|get N|no-buffer q|disable 4|ipv4 6|ipv6
  #|progress-bar V|version compressed fail-with-body no-progress-meter http1.1 http2 m|max-time= connect-timeout= retry= retry-delay=
  A|user-agent= H|header= e|referer= X|request= r|range= url= max-redirs= max-filesize= y|speed-time=`,
    { otherwise: "can write, send or read files", look: lookCurl },
  ),
};
