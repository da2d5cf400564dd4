import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { createPatientFetch } from "./patient-fetch.ts";

/** A server that says nothing for a while: before its headers, and again before the rest. */
async function withSilentServer<T>(silence: number, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer((_, response) => {
    setTimeout(() => {
      response.write("late");
      setTimeout(() => response.end(" is fine"), silence);
    }, silence);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("it waits as long as it is told, and no longer", async () => {
  await withSilentServer(1800, async (url) => {
    const refused = createPatientFetch({ firstByte: 300 })(url).catch((error: Error) => error.cause);
    const answered = createPatientFetch({ firstByte: 60_000 })(url, { method: "POST", body: "x" }).then((response) =>
      response.text(),
    );
    expect(await refused).toMatchObject({ code: "UND_ERR_HEADERS_TIMEOUT" });
    expect(await answered).toBe("late is fine");
  });
});

test("an abort ends it", async () => {
  await withSilentServer(60_000, async (url) => {
    const reason = new Error("enough");
    await expect(createPatientFetch()(url, { signal: AbortSignal.timeout(50) })).rejects.toMatchObject({ name: "TimeoutError" });
    await expect(createPatientFetch()(url, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

test("a silence of the server counts after one of its reader", async () => {
  const server = createServer((_, response) => response.write("x".repeat(1_000_000)));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const response = await createPatientFetch({ idle: 50 })(`http://127.0.0.1:${port}`);
  // The body is not read meanwhile, which is no silence of the server.
  await new Promise((resolve) => setTimeout(resolve, 300));
  const error = await response.text().catch((thrown: Error) => thrown);
  expect(error).toMatchObject({ cause: { code: "UND_ERR_BODY_TIMEOUT" } });
  server.closeAllConnections();
  server.close();
});

test("a request that Node refuses to send fails once, also when it is given up later", async () => {
  const thrown: unknown[] = [];
  const listen = (error: unknown) => thrown.push(error);
  process.prependListener("uncaughtException", listen);
  try {
    await withSilentServer(0, async (url) => {
      const refused = createPatientFetch({ firstByte: 50 })(url, {
        headers: { trailer: "x" },
        signal: new AbortController().signal,
      });
      await expect(refused).rejects.toMatchObject({ code: "ERR_HTTP_TRAILER_INVALID" });
      await new Promise((resolve) => setTimeout(resolve, 300));
    });
  } finally {
    process.off("uncaughtException", listen);
  }
  expect(thrown).toEqual([]);
});
