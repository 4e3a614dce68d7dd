import { connect, type Socket } from 'node:net';
import type { ApiResponse } from '../../support/client.ts';

export interface RawRequest {
  method: string;
  /** The whole request, including the body. */
  bytes: string;
}

/** A connection on which many requests are sent before the first response arrives (RFC 9112 §9.3.2). */
export class Pipeline {
  readonly #origin: URL;
  #socket: Socket | undefined;

  constructor(origin: string) {
    this.#origin = new URL(origin);
  }

  /** Sends requests at once and returns their responses, in order. Only the bodies of errors are parsed. */
  send(requests: readonly RawRequest[]): Promise<ApiResponse[]> {
    const { promise, resolve, reject } = Promise.withResolvers<ApiResponse[]>();
    const socket = this.#connected();
    const responses: ApiResponse[] = [];
    let received = '';
    const onData = (text: string) => {
      received += text;
      for (;;) {
        const read = readResponse(received, requests[responses.length]!.method);
        if (!read) return;
        received = received.slice(read.length);
        responses.push(read.response);
        if (responses.length === requests.length) return finish();
      }
    };
    const onClose = () => {
      this.#socket = undefined;
      const last = JSON.stringify(responses.at(-1));
      reject(
        new Error(
          `The connection ended after ${responses.length} of ${requests.length}: ${last} ${received}`,
        ),
      );
    };
    const finish = () => {
      socket.off('data', onData).off('close', onClose);
      if (responses.at(-1)!.headers.connection === 'close') this.close();
      resolve(responses);
    };
    socket.on('data', onData).on('close', onClose);
    socket.write(requests.map(({ bytes }) => bytes).join(''), 'latin1');
    return promise;
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #connected(): Socket {
    if (!this.#socket) {
      this.#socket = connect(Number(this.#origin.port), this.#origin.hostname);
      this.#socket.setEncoding('latin1').on('error', () => {});
    }
    return this.#socket;
  }
}

/** The first response in `received`; `undefined` until it is complete. */
function readResponse(
  received: string,
  method: string,
): { response: ApiResponse; length: number } | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const [statusLine = '', ...lines] = received.slice(0, headEnd).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(': ');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 2);
  }
  const status = Number(statusLine.slice(9, 12));
  const hasBody = method !== 'HEAD' && status !== 204 && status !== 304;
  const length = headEnd + 4 + (hasBody ? Number(headers['content-length']) : 0);
  if (received.length < length) return undefined;
  const text = received.slice(headEnd + 4, length);
  const body = status >= 400 && text !== '' ? JSON.parse(text) : undefined;
  return { response: { status, headers, text, body }, length };
}
