import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { http } from '../kit/node-http.ts';
import { Metrics } from './metrics.ts';

const METRICS_PATH = '/metrics';

/** The server for operators, on a port of its own: it shows the metrics, to everyone who can reach it. */
export class OpsServer {
  readonly metrics = new Metrics();
  readonly #server: Server;

  /** `onError` is told why the metrics could not be shown. */
  constructor(onError: (error: unknown) => void) {
    this.#server = http.createServer((request, response) => {
      this.#answer(request, response).catch(error => {
        onError(error);
        send(response, 500, 'The metrics could not be collected; the log says why\n');
      });
    });
  }

  /** Answers the URL of the metrics. Port 0 takes any free one. */
  async listen(host: string, port: number): Promise<string> {
    this.#server.listen({ host, port });
    await once(this.#server, 'listening');
    const { address, family, port: taken } = this.#server.address() as AddressInfo;
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}${METRICS_PATH}`;
  }

  /** Ends at once: whoever is reading the metrics reads those of a service that has ended. */
  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const path = request.url?.split('?', 1)[0];
    if (isRead && path === METRICS_PATH) {
      send(response, 200, await this.metrics.text(), this.metrics.contentType);
    } else {
      send(response, 404, `There is only GET ${METRICS_PATH} here\n`);
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
