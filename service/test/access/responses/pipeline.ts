import { connect, type Socket } from 'node:net';
import type { ApiResponse } from '../../support/client.ts';
import { parseResponse } from '../../support/raw-http.ts';

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

  /** Sends requests at once and returns their responses, in order. */
  send(requests: readonly RawRequest[]): Promise<ApiResponse[]> {
    const { promise, resolve, reject } = Promise.withResolvers<ApiResponse[]>();
    const socket = this.#connected();
    const responses: ApiResponse[] = [];
    let received = '';
    const onData = (text: string) => {
      received += text;
      for (;;) {
        const length = lengthOfFirst(received, requests[responses.length]!.method);
        if (length === undefined) return;
        responses.push(parseResponse(received.slice(0, length)));
        received = received.slice(length);
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

/** The length of the first response in `received`; `undefined` until it is complete. */
function lengthOfFirst(received: string, method: string): number | undefined {
  const headEnd = received.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = received.slice(0, headEnd);
  const hasBody = method !== 'HEAD' && !/^HTTP\/1.1 (204|304) /.test(head);
  const length = headEnd + 4 + (hasBody ? Number(/^content-length: (\d+)/im.exec(head)![1]) : 0);
  return received.length < length ? undefined : length;
}
