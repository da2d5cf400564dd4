import { ScopeError, type Scopes } from "./scopes.ts";

const hint = "Open scopes, and pass them where calls are made.";

function refuse(): never {
  throw new ScopeError("path_outside_scope", "There are no scopes here, so no path leads anywhere.", { hint });
}

const rejecting = async () => refuse();

/** For calls that are given no scopes: every path is outside. */
export const noScopes: Scopes = Object.freeze({
  declarations: [],
  readable: () => [],
  writable: () => [],
  resolve: refuse,
  facts: rejecting,
  inspect: rejecting,
  protection: () => undefined,
  target: refuse,
  covered: refuse,
  read: rejecting,
  write: rejecting,
  append: rejecting,
  list: rejecting,
  search: rejecting,
  names: rejecting,
  canRead: async () => false,
  canWrite: async () => false,
  forCommands: rejecting,
  close: async () => undefined,
});
