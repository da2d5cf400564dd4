import { createCipheriv, createDecipheriv } from "node:crypto";
import { createNonce } from "../host/create-nonce.ts";

/** Seals what a database must not read. */
export interface Seal {
  /** `place`: a sealed text opens at this one only. */
  seal(content: Uint8Array, place: string): Uint8Array;
  /** Throws if the key, the place or the content is another one. */
  open(sealed: Uint8Array, place: string): Uint8Array;
}

const nonceBytes = 12;
const tagBytes = 16;

/** AES-256-GCM with a fresh nonce. `key`: 64 hex digits. Throws for another text, which it does not repeat. */
export function createSeal(key: string): Seal {
  if (!/^[0-9a-f]{64}$/i.test(key)) throw new Error("LLM_DO_STORE_KEY must be 64 hex digits; `openssl rand -hex 32` makes one");
  const bytes = Buffer.from(key, "hex");
  return {
    seal: (content, place) => {
      const nonce = createNonce(nonceBytes);
      const cipher = createCipheriv("aes-256-gcm", bytes, nonce).setAAD(Buffer.from(place));
      const sealed = Buffer.concat([cipher.update(content), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    open: (sealed, place) => {
      const whole = Buffer.from(sealed);
      const decipher = createDecipheriv("aes-256-gcm", bytes, whole.subarray(0, nonceBytes));
      decipher.setAAD(Buffer.from(place)).setAuthTag(whole.subarray(nonceBytes, nonceBytes + tagBytes));
      return Buffer.concat([decipher.update(whole.subarray(nonceBytes + tagBytes)), decipher.final()]);
    },
  };
}
