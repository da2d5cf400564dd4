import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { errorMessage } from "../../util/text/error-message.ts";
import { UsageError } from "../exit-codes.ts";

/** Figures of an executor since its start. */
export interface ExecutorFigures {
  executing: number;
  /** Runs by how they ended here. */
  readonly ended: Map<string, number>;
  /** When the database last answered, by the monotonic clock. */
  seen: number;
}

/** Milliseconds without an answer of the database after which an executor is not healthy. */
const longestSilence = 30_000;

/** Serves `/healthz`, and `/metrics` in the text form of Prometheus. Resolves with the port. Rejects if it is taken. */
export async function serveHealth(port: number, figures: ExecutorFigures): Promise<number> {
  const server = createServer((request, response) => {
    const isHealthy = performance.now() - figures.seen < longestSilence;
    if (request.url === "/healthz") response.writeHead(isHealthy ? 200 : 503).end(isHealthy ? "ok\n" : "no database\n");
    else if (request.url === "/metrics")
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4" }).end(render(figures));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, resolve)).catch((thrown: unknown) => {
    throw new UsageError(`--port ${port}: ${errorMessage(thrown)}`);
  });
  server.unref();
  return (server.address() as AddressInfo).port;
}

function render({ executing, ended }: ExecutorFigures): string {
  return [
    "# TYPE llm_do_runs_executing gauge",
    `llm_do_runs_executing ${executing}`,
    "# TYPE llm_do_runs_ended_total counter",
    ...[...ended].map(([state, count]) => `llm_do_runs_ended_total{state="${state}"} ${count}`),
    "",
  ].join("\n");
}
