import { request } from 'node:http';
import type { BareResponse } from '../yardsticks/bare-http.ts';

/** Returns the text of a request as it is sent. */
export function getRequest(path: string, apiKey: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${apiKey}\r\n\r\n`;
}

/** Returns the text of a request with a JSON body as it is sent. ASCII only. */
export function postRequest(path: string, apiKey: string, body: unknown): string {
  const json = JSON.stringify(body);
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${apiKey}\r\n`;
  return `${head}Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`;
}

/** The headers that Node's HTTP server adds to every response. */
const ADDED_BY_NODE = new Set(['date', 'connection', 'keep-alive']);

/**
 * Returns a response with its header names and values as they were sent, without the headers that Node adds. The request is a
 * POST if there is a body.
 */
export function captureResponse(
  port: number,
  path: string,
  apiKey: string,
  body?: unknown,
): Promise<BareResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<BareResponse>();
  const method = body === undefined ? 'GET' : 'POST';
  const headers = { 'X-API-Key': apiKey, 'Content-Type': 'application/json' };
  request({ host: '127.0.0.1', port, path, method, headers, agent: false }, async response => {
    const chunks = await response.setEncoding('utf8').toArray();
    const headers: BareResponse['headers'] = {};
    for (let i = 0; i < response.rawHeaders.length; i += 2) {
      const [name, value] = [response.rawHeaders[i]!, response.rawHeaders[i + 1]!];
      if (ADDED_BY_NODE.has(name.toLowerCase())) continue;
      headers[name] = name in headers ? [headers[name]!, value].flat() : value;
    }
    resolve({ status: response.statusCode!, headers, body: chunks.join('') });
  })
    .once('error', reject)
    .end(body === undefined ? undefined : JSON.stringify(body));
  return promise;
}

/** Sends JSON and returns the JSON of a 201. */
export async function create<T>(port: number, path: string, apiKey: string, body: unknown): Promise<T> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'X-API-Key': apiKey, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (response.status !== 201) throw new Error(`POST ${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
