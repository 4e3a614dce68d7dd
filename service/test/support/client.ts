import type { Agent, IncomingHttpHeaders } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { http } from '../../src/kit/node-http.ts';
import { assertMatchesContract } from './contract.ts';

export interface ApiResponse {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The parsed JSON body; `undefined` when there is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape
  body: any;
}

/** An HTTP client that checks every response against the contract, so that no test can forget to. */
export class Client {
  readonly #origin: string;
  readonly #agent: Agent;
  readonly #headers: Record<string, string>;
  readonly #check: typeof assertMatchesContract;

  /** `check` replaces the check for a service with another contract. */
  constructor(
    origin: string,
    key?: string,
    agent = new http.Agent({ keepAlive: true }),
    check = assertMatchesContract,
  ) {
    this.#origin = origin;
    this.#agent = agent;
    this.#check = check;
    this.#headers = key === undefined ? {} : { 'x-api-key': key };
  }

  /** A client with the same connections and another key, or without a key. */
  as(key?: string): Client {
    return new Client(this.#origin, key, this.#agent, this.#check);
  }

  get(path: string, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.send('GET', path, { headers });
  }

  head(path: string, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.send('HEAD', path, { headers });
  }

  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.send('POST', path, { body, headers });
  }

  put(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.send('PUT', path, { body, headers });
  }

  patch(path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.send('PATCH', path, {
      body,
      headers: { 'content-type': 'application/merge-patch+json', ...headers },
    });
  }

  delete(path: string, headers?: Record<string, string>): Promise<ApiResponse> {
    return this.send('DELETE', path, { headers });
  }

  async send(method: string, path: string, { headers = {}, body }: LooseOptions = {}): Promise<ApiResponse> {
    const bytes =
      body === undefined || typeof body === 'string' || body instanceof Uint8Array
        ? body
        : JSON.stringify(body);
    const type = bytes === undefined ? {} : { 'content-type': 'application/json' };
    const response = await this.#exchange(method, path, { ...this.#headers, ...type, ...headers }, bytes);
    this.#check({ method, path, ...response });
    return response;
  }

  close(): void {
    this.#agent.destroy();
  }

  #exchange(
    method: string,
    path: string,
    headers: Record<string, string | undefined>,
    bytes: string | Uint8Array | undefined,
  ): Promise<ApiResponse> {
    const { promise, resolve, reject } = Promise.withResolvers<ApiResponse>();
    const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
    const length = bytes === undefined ? {} : { 'content-length': Buffer.byteLength(bytes) };
    const options = {
      method,
      path,
      agent: this.#agent,
      headers: { ...sent, ...length } as Record<string, string>,
    };
    const request = http.request(this.#origin, options, response => {
      const chunks: Buffer[] = [];
      response.on('data', chunk => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = decoded(Buffer.concat(chunks), response.headers).toString();
        const isJson = response.headers['content-type']?.startsWith('application/json') && text !== '';
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text,
          body: isJson ? JSON.parse(text) : undefined,
        });
      });
    });
    request.on('error', reject);
    request.end(bytes);
    return promise;
  }
}

/** The content of a body, which is compressed if the request has asked for that. */
function decoded(body: Buffer, { 'content-encoding': encoding }: IncomingHttpHeaders): Buffer {
  if (encoding === undefined || body.length === 0) return body;
  return encoding === 'br' ? brotliDecompressSync(body) : gunzipSync(body);
}

interface LooseOptions {
  headers?: Record<string, string | undefined> | undefined;
  body?: unknown;
}
