import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A response that the proxy sends instead of the service. */
interface OwnResponse {
  status: number;
  headers: Record<string, string>;
  body: object;
}

interface ForwardedBatch {
  idempotencyKey: string;
  operations: number;
  status: number;
  /** Whether the service repeated a stored outcome. */
  isReplay: boolean;
}

/** Forwards requests to a service. Tests decide what happens before and after each batch. */
export class BatchProxy {
  readonly batches: ForwardedBatch[] = [];
  /** Runs before a batch is forwarded. If it returns a response, the batch is not forwarded. */
  before: () => OwnResponse | undefined = () => undefined;
  /**
   * Runs after the service has executed a batch, and before its response is sent. `number` counts from 1. If it returns a
   * response, that one is sent instead.
   */
  after: (number: number) => undefined | OwnResponse | Promise<undefined> = () => undefined;
  /** Changes the results of a batch. */
  replaceResults: (results: object[]) => object[] = results => results;
  readonly #server: Server;
  readonly #target: string;

  constructor(target: string) {
    this.#target = target;
    this.#server = createServer((request, response) => this.#forward(request, response));
  }

  async listen(port = 0): Promise<string> {
    await once(this.#server.listen(port, '127.0.0.1'), 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise(resolve => this.#server.close(resolve));
  }

  /** Lets all batches through again. */
  reset(): void {
    this.batches.length = 0;
    this.before = () => undefined;
    this.after = () => undefined;
    this.replaceResults = results => results;
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '' } = request;
    const body = await buffer(request);
    const isBatch = url === '/batch';
    const sendInstead = (own: OwnResponse) => {
      const type = { 'content-type': 'application/json' };
      response.writeHead(own.status, { ...type, ...own.headers }).end(JSON.stringify(own.body));
    };
    const own = isBatch ? this.before() : undefined;
    if (own) return sendInstead(own);
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
    const reply = await fetch(this.#target + url, {
      method,
      headers: { ...headers, connection: 'close' },
      ...(body.length > 0 && { body }),
    });
    let text = await reply.text();
    if (isBatch && reply.ok)
      text = JSON.stringify({ results: this.replaceResults(JSON.parse(text).results) });
    if (isBatch) {
      this.batches.push({
        idempotencyKey: headers['idempotency-key']!,
        operations: JSON.parse(body.toString()).operations.length,
        status: reply.status,
        isReplay: reply.headers.get('idempotency-replayed') === 'true',
      });
      const instead = await this.after(this.batches.length);
      if (instead) return sendInstead(instead);
    }
    const { 'content-encoding': ___, 'content-length': ____, ...rest } = Object.fromEntries(reply.headers);
    response.writeHead(reply.status, rest).end(text);
  }
}
