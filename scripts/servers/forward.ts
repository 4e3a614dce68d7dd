import { type Agent, type IncomingMessage, request, type ServerResponse } from 'node:http';

/** What became of a request: only what was not sent for sure may be sent again whatever it asks for. */
type Outcome = 'answered' | 'not sent' | 'broken off';

/** How long a server may be silent, in milliseconds, before and between the parts of its answer. */
const SILENCE = 60_000;

/** What concerns one connection and not the message (RFC 9110 §7.6.1). */
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

/** Passes a request on to a port of this machine, and its answer back, both as they come. */
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
  // Nothing of a body is taken before there is somebody to send it to: another may have to take it.
  outgoing.once('socket', socket => {
    if (socket.connecting) socket.once('connect', begin);
    else begin();
  });
  outgoing.on('continue', () => response.writeContinue());
  outgoing.on('response', answer => {
    response.writeHead(answer.statusCode!, answer.statusMessage, endToEnd(answer));
    response.flushHeaders();
    answer.pipe(response);
    // The client learns from the connection that there would have been more.
    answer.on('error', () => response.destroy());
    resolve('answered');
  });
  outgoing.on('timeout', () => outgoing.destroy(new Error('No answer')));
  outgoing.on('error', () => {
    // A body that was not sent stays where it is: it may have to be sent to another.
    incoming.unpipe(outgoing);
    resolve(sent ? 'broken off' : 'not sent');
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
  // Without it node:http would announce a body in chunks.
  else if (incoming.method !== 'GET' && incoming.method !== 'HEAD') headers.push('Content-Length', '0');
  return headers;
}

/** Names and values by turns, as they were sent, without those that end here. */
function endToEnd({ rawHeaders, headers }: IncomingMessage, ...others: string[]): string[] {
  const named = (headers.connection ?? '').toLowerCase().split(',');
  const left = new Set([...named.map(name => name.trim()), ...others]);
  return rawHeaders.filter((_, i) => {
    const name = rawHeaders[i - (i % 2)]!.toLowerCase();
    return !HOP_BY_HOP.has(name) && !left.has(name);
  });
}
