import type { Host } from "../host.ts";
import { type CredentialFile, openCredentialFile } from "./credential-file.ts";

/** A login of the user at a provider, with all that is needed to refresh it. */
export interface StoredLogin {
  readonly accessToken: string;
  readonly refreshToken?: string;
  /** In milliseconds since the epoch. Absent: not known. */
  readonly expiresAt?: number;
  readonly issuer: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  /** The origin that the token goes to, and no other. */
  readonly origin: string;
  /** The provider's base address, in that origin. Absent: as without a login. */
  readonly address?: string;
  /** ISO 8601. */
  readonly loggedInAt: string;
  /** The address that tokens are asked for (RFC 8707). Absent: none is named. */
  readonly resource?: string;
}

const required = ["accessToken", "issuer", "tokenUrl", "clientId", "origin", "loggedInAt"] as const;

/** The user's logins, by the name of their provider, or by the address of their MCP server. */
export function openLoginFile(host: Pick<Host, "files" | "stateDirectory">): CredentialFile<StoredLogin> {
  return openCredentialFile(host, { name: "logins", parse: parseLogin });
}

function parseLogin(entry: Readonly<Record<string, unknown>>): StoredLogin | undefined {
  const { refreshToken, expiresAt, resource, address } = entry;
  if (!required.every((name) => typeof entry[name] === "string")) return undefined;
  if (refreshToken !== undefined && typeof refreshToken !== "string") return undefined;
  if (address !== undefined && typeof address !== "string") return undefined;
  if (resource !== undefined && typeof resource !== "string") return undefined;
  if (expiresAt !== undefined && typeof expiresAt !== "number") return undefined;
  return entry as unknown as StoredLogin;
}
