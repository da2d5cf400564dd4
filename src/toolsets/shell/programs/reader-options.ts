import { optionTable } from "./options.ts";

const grep = optionTable(
  `E|extended-regexp F|fixed-strings G|basic-regexp P|perl-regexp e|regexp= f|file= i|y|ignore-case no-ignore-case w|word-regexp
  x|line-regexp z|null-data s|no-messages v|invert-match V|version help m|max-count= b|byte-offset n|line-number line-buffered
  H|with-filename h|no-filename label= o|only-matching q|quiet|silent binary-files= a|text I d|directories= D|devices= r|recursive
  R|dereference-recursive include= exclude= exclude-from= exclude-dir= L|files-without-match l|files-with-matches c|count
  T|initial-tab Z|null B|before-context= A|after-context= C|context= group-separator= no-group-separator color|colour? U|binary u`,
  { digits: true },
);

/** Programs that take a pattern or a filter first. */
export const patternOptions = {
  grep,
  egrep: grep,
  fgrep: grep,
  jq: optionTable(
    `c|compact-output n|null-input e|exit-status s|slurp r|raw-output R|raw-input C|color-output M|monochrome-output S|sort-keys
    a|ascii-output j|join-output tab indent= unbuffered stream stream-errors seq f|from-file h|help V|version build-configuration
    args jsonargs arg== argjson== raw-output0 !slurpfile== !rawfile== !argfile== !L= !library-path=`,
  ),
  rg: optionTable(
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
  ),
  ag: optionTable(
    `ackmate A|after? B|before? break nobreak no-break c|count color nocolor no-color color-line-number= color-match= color-path=
    column filename nofilename no-filename H|heading noheading no-heading C|context? group nogroup no-group l|files-with-matches
    L|files-without-matches print-all-files numbers nonumbers no-numbers o|only-matching print-long-lines passthrough|passthru silent
    stats stats-only vimgrep 0|null|print0 a|all-types D|debug depth= f|follow F|Q|fixed-strings|literal G|file-search-regex= hidden
    i|ignore-case ignore= ignore-dir= m|max-count= one-device p|path-to-ignore= s|case-sensitive S|smart-case search-binary t|all-text
    u|unrestricted U|skip-vcs-ignores v|invert-match V|version help w|word-regexp W|width= list-file-types g|filename-pattern= h !z|search-zip !pager=`,
  ),
  ack: optionTable(
    `f g l|files-with-matches L|files-without-matches c|count i|ignore-case S|smart-case nosmart-case no-smart-case I|no-ignore-case
    v|invert-match w|word-regexp Q|literal range-start= range-end= match= o passthru m|max-count= 1 H|with-filename h|no-filename
    column nocolumn A|after-context= B|before-context= C context? print0 s nopager heading noheading break nobreak group nogroup
    proximate? P underline nounderline color|colour nocolor|nocolour color-filename= color-match= color-colno= color-lineno=
    help-colors help-rgb-colors flush sort-files show-types ignore-dir|ignore-directory= noignore-dir|noignore-directory= ignore-file=
    r|R|recurse n|no-recurse follow nofollow t|type= T= k|known-types help-types version noenv help !output= !pager? !ackrc=
    !files-from= !x`,
  ),
} as const;

const compressor = optionTable(
  "c|stdout|to-stdout d|decompress|uncompress l|list k|keep t|test v|verbose q|quiet n|no-name 1 2 3 4 5 6 7 8 9",
);

/** Those that write to their output. Others of the same names have options for the program that decompresses. */
const decompressor = optionTable("c|stdout|to-stdout d|decompress f|force l|list k|keep t|test v|verbose q|quiet help V|version");

/** Programs that read what they are given, but for what is marked or not named here. */
export const readerOptions = {
  sort: optionTable(
    `b|ignore-leading-blanks d|dictionary-order f|ignore-case g|general-numeric-sort i|ignore-nonprinting M|month-sort
    h|human-numeric-sort n|numeric-sort R|random-sort random-source= r|reverse sort= V|version-sort batch-size= c check? C debug k|key=
    m|merge s|stable S|buffer-size= t|field-separator= parallel= u|unique z|zero-terminated help version !o|output=
    !T|temporary-directory= !compress-program= !files0-from=`,
  ),
  shuf: optionTable("e|echo i|input-range= n|head-count= random-source= r|repeat z|zero-terminated help version !o|output="),
  iconv: optionTable("f|from-code= t|to-code= l|list c s|silent verbose help usage V|version !o|output="),
  wc: optionTable("c|bytes m|chars l|lines L|max-line-length w|words total= help version !files0-from="),
  du: optionTable(
    `0|null a|all A|apparent-size B|block-size= b|bytes c|total D|dereference-args d|max-depth= H h|human-readable g inodes k
    L|dereference l|count-links m P|no-dereference S|separate-dirs si s|summarize t|threshold= time? time-style= X|exclude-from=
    exclude= x|one-file-system help version !files0-from=`,
  ),
  date: optionTable(
    `d|date= debug f|file= I|iso-8601? resolution R|rfc-email|rfc-2822 rfc-3339= r|reference= u|utc|universal help version j n v=
    !s|set=`,
  ),
  file: optionTable(
    `v|version m|magic-file= b|brief c|checking-printout e|exclude= exclude-quiet= f|files-from= F|separator= i|mime apple extension
    mime-type mime-encoding k|keep-going l|list L|dereference h|no-dereference n|no-buffer N|no-pad 0|print0 p|preserve-date
    P|parameter= r|raw s|special-files d|debug help I !z|uncompress !Z|uncompress-noreport !S|no-sandbox !C|compile`,
  ),
  tree: optionTable(
    `a d f i l x L= P= I= gitignore gitfile= ignore-case matchdirs metafirst info infofile= prune filelimit= noreport timefmt= q N Q p
    u g s h si D F inodes device v t c U r dirsfirst filesfirst sort= A S n C X J T= nolinks charset= fromfile fflinks version help du
    !R !o= !H= !hintro= !houtro=`,
    { apart: true },
  ),
  zcat: decompressor,
  bzcat: decompressor,
  xzcat: decompressor,
  yq: optionTable(
    `y|yaml-output Y|yaml-roundtrip w|width= c|compact-output n|null-input e|exit-status r|raw-output R|raw-input C|color-output|colors
    M|monochrome-output|no-colors S|sort-keys tab arg== argjson== o|output-format= p|input-format= P|prettyPrint N|no-doc I|indent=
    j|tojson v|verbose V|version h|help unwrapScalar? !i|inplace|in-place !s !split-exp= !split-exp-file=`,
  ),
  sdiff: optionTable(
    `i|ignore-case E|ignore-tab-expansion Z|ignore-trailing-space b|ignore-space-change W|ignore-all-space B|ignore-blank-lines
    I|ignore-matching-lines= strip-trailing-cr a|text w|width= l|left-column s|suppress-common-lines t|expand-tabs tabsize= d|minimal
    H|speed-large-files help v|version !o|output= !diff-program=`,
  ),
  diff3: optionTable(
    `A|show-all e|ed E|show-overlap 3|easy-only x|overlap-only X i m|merge a|text strip-trailing-cr T|initial-tab L|label= help
    v|version !diff-program=`,
  ),
  fd: optionTable(
    `H|hidden I|no-ignore no-ignore-vcs no-ignore-parent u|unrestricted s|case-sensitive i|ignore-case g|glob regex F|fixed-strings
    and= a|absolute-path l|list-details L|follow p|full-path 0|print0 d|max-depth= min-depth= exact-depth= E|exclude= prune t|type=
    e|extension= S|size= changed-within= changed-before= o|owner= ignore-file= c|color= j|threads= max-results= 1 q|quiet show-errors
    base-directory= path-separator= search-path= strip-cwd-prefix one-file-system h|help V|version !x|exec= !X|exec-batch=
    !batch-size=`,
  ),
  bat: optionTable(
    `A|show-all p|plain l|language= H|highlight-line= file-name= d|diff diff-context= tabs= wrap= terminal-width= n|number color=
    italic-text= decorations= f|force-colorization paging= m|map-syntax= ignored-suffix= theme= list-themes style= r|line-range=
    L|list-languages u|unbuffered h|help V|version !P !pager=`,
  ),
} as const;

/** Readers with operands or ways of their own. */
export const smallOptions = {
  uniq: optionTable(
    `c|count d|repeated D all-repeated? f|skip-fields= group? i|ignore-case s|skip-chars= u|unique z|zero-terminated w|check-chars=
    help version`,
  ),
  /** Values of its letters can hold further options, so that only flags are known. */
  less: optionTable("N S R F X e E i I M m n r s f d c Q q g G w W a A B J u U V L help version"),
  man: optionTable("k|apropos f|whatis a|all w|where|path|location K|global-apropos help version"),
  xxd: optionTable(
    `a|-autoskip b|-bits C|-capitalize c|-cols= d E|-EBCDIC e g|-group= i|-include l|-len= n|-name= o|-offset= p|-ps|-plain|-postscript
    s|-seek|-skip= u|-uppercase v|-version`,
    { style: "single-letters" },
  ),
  gzip: compressor,
  gunzip: compressor,
  bzip2: compressor,
  bunzip2: compressor,
  xz: compressor,
  unxz: compressor,
  zstd: compressor,
  unzip: optionTable("l p t v Z 1 2 q z h"),
  jobs: optionTable("l n p r s"),
} as const;
