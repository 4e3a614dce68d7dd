import { Agent, request } from 'node:http';

export interface Sent {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: bodies of every shape
  body: any;
}

/** A client of one server and key that keeps its connections open. Unlike the load generator, it reads what it creates. */
export class OneClient implements Disposable {
  readonly #port: number;
  readonly #apiKey: string;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(port: number, apiKey: string) {
    this.#port = port;
    this.#apiKey = apiKey;
  }

  /** Throws if the response is an error. `json` is the text of the body. */
  send(method: string, path: string, json?: string): Promise<Sent> {
    const { promise, resolve, reject } = Promise.withResolvers<Sent>();
    const headers = {
      'X-API-Key': this.#apiKey,
      ...(json !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(json),
      }),
    };
    const options = { host: '127.0.0.1', port: this.#port, method, path, headers, agent: this.#agent };
    request(options, async response => {
      const text = (await response.setEncoding('utf8').toArray()).join('');
      const status = response.statusCode!;
      if (status >= 400) reject(new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}`));
      else resolve({ status, body: text === '' ? undefined : JSON.parse(text) });
    })
      .once('error', reject)
      .end(json);
    return promise;
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
