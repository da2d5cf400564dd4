import { hash } from "node:crypto";

/** Lower-case hex SHA-256. Text is taken as UTF-8. */
export function sha256(content: string | Uint8Array): string {
  return hash("sha256", content, "hex");
}
