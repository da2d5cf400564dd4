/**
 * Keeps programs that a repository or a terminal could set off from starting by themselves: pagers, prompts, repositories that
 * hide in folders of others, and git's file monitor, which is a command in the repository's own configuration.
 */
export const quietEnvironment: Readonly<Record<string, string>> = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  LESSSECURE: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_CONFIG_COUNT: "2",
  GIT_CONFIG_KEY_0: "safe.bareRepository",
  GIT_CONFIG_VALUE_0: "explicit",
  GIT_CONFIG_KEY_1: "core.fsmonitor",
  GIT_CONFIG_VALUE_1: "false",
};
