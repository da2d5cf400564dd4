import { Agent, request } from "node:http";
import type { Arm } from "../arm.ts";
import { headers, loop, type Post } from "./plain.ts";

export const arm: Arm = {
  name: "node:http loop",
  floor: true,
  without: { text: "reads whole answers alone" },
  prepare: async (base) => {
    const agent = new Agent({ keepAlive: true });
    const post: Post = (body) =>
      new Promise((resolve, reject) => {
        const length = { "content-length": Buffer.byteLength(body) };
        const url = `${base}/chat/completions`;
        const sent = request(url, { method: "POST", agent, headers: { ...headers, ...length } }, (response) => {
          const parts: Buffer[] = [];
          response.on("data", (part: Buffer) => parts.push(part));
          response.on("end", () => resolve(Buffer.concat(parts).toString()));
        });
        sent.on("error", reject);
        sent.end(body);
      });
    return (one) => loop(post, one);
  },
};
