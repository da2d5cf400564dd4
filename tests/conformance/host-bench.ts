import { afterEach, beforeEach, expect } from "vitest";
import type { Host } from "../../src/host/host.ts";
import { type ScopeDeclaration, ScopeError, type Scopes } from "../../src/host/scopes/scopes.ts";

export type FixtureContent =
  | string
  | Uint8Array
  | { readonly link: string }
  | { readonly other: true }
  | { readonly folder: true };

/** A host with an empty folder of its own. */
export interface HostFixture {
  readonly host: Host;
  /** Absolute path of the folder; without links. */
  readonly root: string;
  put(path: string, content: FixtureContent): Promise<void>;
  cleanup(): Promise<void>;
}

export const bytes = (text: string) => new TextEncoder().encode(text);
export const text = (content: Uint8Array) => new TextDecoder().decode(content);

/** A fresh fixture for each test of the suite that calls this, and what is done with it again and again. */
export function useHost(createFixture: () => Promise<HostFixture>) {
  let current: HostFixture;
  const opened: Scopes[] = [];
  const fixture = {
    get host() {
      return current.host;
    },
    get root() {
      return current.root;
    },
    put: (path: string, content: FixtureContent) => current.put(path, content),
  };
  const at = (path: string) => `${current.root}/${path}`;

  beforeEach(async () => {
    current = await createFixture();
  });
  afterEach(async () => {
    for (const scopes of opened.splice(0)) await scopes.close();
    await current.cleanup();
  });

  const declare = (name: string, folder: string, more: Partial<ScopeDeclaration> = {}): ScopeDeclaration => ({
    name,
    root: folder === "" ? current.root : at(folder),
    mode: "rw",
    ...more,
  });

  async function open(...declarations: ScopeDeclaration[]): Promise<Scopes> {
    const scopes = await current.host.openScopes(declarations, {
      programFolder: at("program"),
      programFiles: [at("program/help.ts")],
    });
    opened.push(scopes);
    return scopes;
  }

  /** Message of a refusal; it must not name a place of the machine. */
  async function refusal(action: Promise<unknown> | (() => unknown)): Promise<ScopeError> {
    const error = await (async () => (typeof action === "function" ? action() : action))().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof ScopeError)) throw new Error(`expected a ScopeError, got ${String(error)}`, { cause: error });
    const said = JSON.stringify([error.message, error.hint, error.details, error.stack?.split("\n")[0]]);
    expect(said).not.toContain(current.root);
    expect(said).not.toContain("/proc/");
    return error;
  }

  return { fixture, at, declare, open, refusal };
}
