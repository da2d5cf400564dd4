/** The shells that `llm-do completion` has a script for. */
export const shells = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof shells)[number];

/** The hidden command that answers a shell. */
export const completeCommandName = "__complete";

/*
 * The scripts hold no grammar: they hand over the words before the cursor as data, never to `eval`, and take back one candidate a line.
 * The first line of an answer says what else fits: `files`, or `nothing`. In zsh and fish a tab and a description follow a candidate.
 */
const scripts: Readonly<Record<Shell, string>> = {
  // Works in bash 3.2, without bash-completion. Bash breaks words at `=` and `:`; the command takes the line apart itself.
  bash: `_llm_do() {
  local answer line
  answer=$(llm-do __complete bash "\${COMP_LINE:0:COMP_POINT}" "$COMP_WORDBREAKS" 2>/dev/null </dev/null)
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      files) compopt -o default 2>/dev/null ;;
      nothing) ;;
      */ | *= | *:) COMPREPLY+=("$line"); compopt -o nospace 2>/dev/null ;;
      *) COMPREPLY+=("$line") ;;
    esac
  done <<<"$answer"
}
complete -F _llm_do llm-do
`,
  zsh: `#compdef llm-do
_llm_do() {
  local -a lines values shown open open_shown
  local line value
  lines=("\${(@f)$(llm-do __complete zsh "\${(@Q)words[2,CURRENT]}" 2>/dev/null </dev/null)}")
  for line in "\${(@)lines[2,-1]}"; do
    value="\${line%%$'\\t'*}"
    if [[ $value == *[/=:] ]]; then
      open+=("$value"); open_shown+=("\${line/$'\\t'/  }")
    else
      values+=("$value"); shown+=("\${line/$'\\t'/  }")
    fi
  done
  (( $#values )) && compadd -l -d shown -a values
  (( $#open )) && compadd -S '' -l -d open_shown -a open
  [[ $lines[1] == files ]] && _files
  return 0
}
if [[ $funcstack[1] == _llm_do ]]; then _llm_do "$@"; else compdef _llm_do llm-do; fi
`,
  fish: `function __llm_do_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l lines (llm-do __complete fish $words[2..-1] "$current" 2>/dev/null </dev/null)
    test "$lines[1]" = files; and __fish_complete_path "$current"
    test (count $lines) -gt 1; and printf '%s\\n' $lines[2..-1]
end
complete -c llm-do -f -a '(__llm_do_complete)'
`,
};

/** The line that switches the script on, for a comment at its beginning. */
const howTo: Readonly<Record<Shell, string>> = {
  bash: 'eval "$(llm-do completion bash)"    # in ~/.bashrc',
  zsh: 'eval "$(llm-do completion zsh)"    # in ~/.zshrc, below compinit',
  fish: "llm-do completion fish > ~/.config/fish/completions/llm-do.fish",
};

export function completionScript(shell: Shell): string {
  const [first = "", ...rest] = scripts[shell].split("\n");
  const comment = `# Completion for ${shell}: ${howTo[shell]}`;
  // `#compdef` has to be the first line.
  return (first.startsWith("#compdef") ? [first, comment, ...rest] : [comment, first, ...rest]).join("\n");
}
