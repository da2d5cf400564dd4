import type { GitTransport } from "./git-commands.ts";
import type { GitConfig, GitSetting } from "./git-config.ts";

export interface KnownRemotes {
  /** The configurations that were read: of the repository itself, and of those that git can enter from it. */
  readonly configs: { readonly own: readonly GitConfig[]; readonly nested: readonly GitConfig[] };
  /** True where git could find a repository by this word, if it is no name of a remote. */
  readonly couldBePath: (word: string) => boolean;
}

/**
 * Why a command that speaks to another repository could make git run what that one says. One that is a path is served by a git
 * on this machine, with the hooks and the configuration that lie there: nothing that we set for the first reaches it.
 */
export function judgeRemotes(
  transport: GitTransport,
  { configs: { own, nested }, couldBePath }: KnownRemotes,
): string | undefined {
  const settings = own.flatMap((config) => config.settings);
  const remotes = new Set(
    settings.flatMap(({ section, subsection }) => (section === "remote" && subsection ? [subsection] : [])),
  );
  const isKnown = (repository: string) => remotes.has(repository) || isNetworkAddress(repository);
  const named = transport.named.find((word) => !isKnown(word) && !isHarmlessSelf(transport, word) && couldBePath(word));
  if (named !== undefined) return `\`${named}\` is a repository on this machine, whose hooks and configuration git would obey`;
  const wanted = settings.filter((setting) => isWanted(setting, transport.named));
  const addresses = [...wanted, ...nested.flatMap((config) => config.settings)].filter(isAddress);
  const local = addresses.find(({ value = "" }) => !isNetworkAddress(value));
  if (local !== undefined) return describe(local);
  const standard = transport.named.length > 0 ? [] : settings.filter(isStandardRemote);
  const odd = standard.find(({ value = "" }) => !isKnown(value) && !isHarmlessSelf(transport, value));
  return odd === undefined ? undefined : describe(odd);
}

function describe({ section, subsection, key, value = "" }: GitSetting): string {
  const name = [section, ...(subsection === undefined ? [] : [subsection]), key].join(".");
  return `\`${name}\` is \`${value}\`, a repository on this machine, whose hooks and configuration git would obey`;
}

/** A remote of the repository itself counts only if it is the one that is named. */
function isWanted({ section, subsection }: GitSetting, named: readonly string[]): boolean {
  return section === "remote" && (named.length === 0 || (subsection !== undefined && named.includes(subsection)));
}

function isAddress({ section, key }: GitSetting): boolean {
  return section === "remote" && (key === "url" || key === "pushurl");
}

function isStandardRemote({ section, key }: GitSetting): boolean {
  return (section === "branch" && (key === "remote" || key === "pushremote")) || (section === "remote" && key === "pushdefault");
}

/** The repository itself: its configuration was looked at. Only what is pushed meets hooks. */
function isHarmlessSelf({ subcommand }: GitTransport, repository: string): boolean {
  return repository === "." && subcommand !== "push" && subcommand !== "send-pack";
}

/** As git tells addresses from paths: a scheme of the network, or a host and a colon before any slash. */
function isNetworkAddress(address: string): boolean {
  if (/^(?:https?|ssh|git|git\+ssh|ssh\+git|ftps?):\/\//.test(address)) return true;
  return !/^[^/]*:\/\//.test(address) && /^[^/:]+:(?!:)/.test(address);
}
