import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { BareResponse } from '../yardsticks/bare-http.ts';

/** Returns the text of a request as it is sent. ASCII only. The body is JSON. */
export function requestText(
  method: string,
  target: string,
  apiKey: string,
  { headers = {}, body }: { headers?: Record<string, string>; body?: string | undefined } = {},
): string {
  const length =
    body === undefined ? {} : { 'Content-Type': 'application/json', 'Content-Length': body.length };
  const all = { Host: '127.0.0.1', 'X-API-Key': apiKey, ...length, ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}`;
}

/** A server and a key. Requests have a connection of their own unless there is an agent. */
export interface Client {
  port: number;
  apiKey: string;
  agent?: Agent;
}

/** Returns a client that keeps its connections open. */
export function keptOpen({ port, apiKey }: Client): Required<Client> & Disposable {
  const agent = new Agent({ keepAlive: true });
  return { port, apiKey, agent, [Symbol.dispose]: () => agent.destroy() };
}

/** Resolves with a response of any status whose body has not been read. `json` is the text of the body. */
export async function respond(
  { port, apiKey, agent = new Agent() }: Client,
  method: string,
  path: string,
  json?: string,
): Promise<IncomingMessage> {
  const body = json !== undefined && {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(json),
  };
  const headers = { 'X-API-Key': apiKey, ...body };
  const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }).end(json);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return response;
}

/** Resolves with the JSON of a response; throws if it is an error. */
export async function send<T>(client: Client, method: string, path: string, json?: string): Promise<T> {
  const response = await respond(client, method, path, json);
  const body = await text(response);
  if (response.statusCode! >= 400)
    throw new Error(`${method} ${path}: ${response.statusCode} ${body.slice(0, 500)}`);
  return (body === '' ? undefined : JSON.parse(body)) as T;
}

export function post<T>(client: Client, path: string, body: object): Promise<T> {
  return send<T>(client, 'POST', path, JSON.stringify(body));
}

/** The headers that Node's HTTP server adds to every response. */
const ADDED_BY_NODE = new Set(['date', 'connection', 'keep-alive']);

/** Returns a response with its header names and values as they were sent, without the headers that Node adds. */
export async function captureResponse(client: Client, path: string, body?: object): Promise<BareResponse> {
  const [method, json] = body === undefined ? ['GET'] : ['POST', JSON.stringify(body)];
  const response = await respond(client, method!, path, json);
  const headers: BareResponse['headers'] = {};
  for (let i = 0; i < response.rawHeaders.length; i += 2) {
    const [name, value] = [response.rawHeaders[i]!, response.rawHeaders[i + 1]!];
    if (ADDED_BY_NODE.has(name.toLowerCase())) continue;
    headers[name] = name in headers ? [headers[name]!, value].flat() : value;
  }
  return { status: response.statusCode!, headers, body: await text(response) };
}

/** Opens an event stream on a separate connection and reads it. */
export async function openStream(client: Client): Promise<IncomingMessage> {
  const response = await respond(client, 'GET', '/events/stream');
  if (response.statusCode !== 200) throw new Error(`GET /events/stream: ${response.statusCode}`);
  response.on('error', () => {});
  return response.resume();
}
