import { type Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';

/** The outcome of a request. Only a request that was certainly not sent may be sent again with any method. */
type Outcome = 'responded' | 'not sent' | 'aborted';

/** How long a server may be silent before and between the parts of its response, in milliseconds. */
const SILENCE = 60_000;

/** Headers that belong to one connection and not to the message (RFC 9110 §7.6.1). */
const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Forwards a request to a port of this machine and streams the response back. */
export function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  port: number,
  agent: Agent,
): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  let sent = false;
  const outgoing = request({
    host: '127.0.0.1',
    port,
    agent,
    method: incoming.method,
    path: incoming.url,
    headers: headersToSend(incoming),
    timeout: SILENCE,
  });
  const begin = () => {
    sent = true;
    if (!hasBody(incoming)) {
      outgoing.end();
      return;
    }
    outgoing.flushHeaders();
    incoming.pipe(outgoing);
  };
  // The body is not read before the connection is open, because another replica may have to get it.
  outgoing.once('socket', socket => {
    if (socket.connecting) socket.once('connect', begin);
    else begin();
  });
  outgoing.on('continue', () => response.writeContinue());
  outgoing.on('response', received => {
    response.writeHead(received.statusCode!, received.statusMessage, endToEnd(received));
    response.flushHeaders();
    received.pipe(response);
    // Closing the connection shows the client that the response is incomplete.
    received.on('error', () => response.destroy());
    resolve('responded');
  });
  outgoing.on('timeout', () => outgoing.destroy(new Error('No response')));
  outgoing.on('error', () => {
    // A body that was not sent stays in the request, because another replica may have to get it.
    incoming.unpipe(outgoing);
    resolve(sent ? 'aborted' : 'not sent');
  });
  response.once('close', () => {
    if (!response.writableFinished) outgoing.destroy();
  });
  return promise;
}

export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function headersToSend(incoming: IncomingMessage): string[] {
  const headers = endToEnd(incoming, 'x-forwarded-for');
  const before = incoming.headers['x-forwarded-for'];
  const address = incoming.socket.remoteAddress ?? '';
  headers.push('X-Forwarded-For', before === undefined ? address : `${before}, ${address}`);
  const hasLength = headers.some((text, i) => i % 2 === 0 && text.toLowerCase() === 'content-length');
  if (hasLength) return headers;
  if (hasBody(incoming)) headers.push('Transfer-Encoding', 'chunked');
  // Without this header node:http would announce a chunked body.
  else if (incoming.method !== 'GET' && incoming.method !== 'HEAD') headers.push('Content-Length', '0');
  return headers;
}

/** Returns alternating names and values as they were sent, without the headers that are not forwarded. */
function endToEnd({ rawHeaders, headers }: IncomingMessage, ...others: string[]): string[] {
  const named = (headers.connection ?? '').toLowerCase().split(',');
  const left = new Set([...named.map(name => name.trim()), ...others]);
  return rawHeaders.filter((_, i) => {
    const name = rawHeaders[i - (i % 2)]!.toLowerCase();
    return !HOP_BY_HOP.has(name) && !left.has(name);
  });
}
