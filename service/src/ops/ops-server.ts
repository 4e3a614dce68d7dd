import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { http } from '../kit/node-http.ts';
import { Metrics } from './metrics.ts';

const METRICS_PATH = '/metrics';

/** The server for operators, on a separate port. It returns the metrics to every client that can reach it. */
export class OpsServer {
  readonly metrics = new Metrics();
  readonly #server: Server;

  /** `onError` receives the reason why the metrics could not be collected. */
  constructor(onError: (error: unknown) => void) {
    this.#server = http.createServer((request, response) => {
      this.#handle(request, response).catch(error => {
        onError(error);
        send(response, 500, 'The metrics could not be collected; see the log for the reason\n');
      });
    });
  }

  /** Returns the URL of the metrics. Port 0 takes any free port. */
  async listen(host: string, port: number): Promise<string> {
    this.#server.listen({ host, port });
    await once(this.#server, 'listening');
    const { address, family, port: taken } = this.#server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}${METRICS_PATH}`;
  }

  /** Closes all connections at once: metrics of a stopped service are of no use. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const path = request.url?.split('?', 1)[0];
    if (isRead && path === METRICS_PATH) {
      send(response, 200, await this.metrics.text(), this.metrics.contentType);
    } else {
      send(response, 404, `Not found; use GET ${METRICS_PATH}\n`);
    }
  }
}

function send(
  response: ServerResponse,
  status: number,
  text: string,
  contentType = 'text/plain; charset=utf-8',
): void {
  response
    .writeHead(status, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) })
    .end(text);
}
