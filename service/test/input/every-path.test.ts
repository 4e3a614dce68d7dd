import assert from 'node:assert/strict';
import { before, it } from 'node:test';
import { MINUTE } from '../../src/kit/clock.ts';
import { buildConsole } from '../support/console-page.ts';
import { isLong } from '../support/long.ts';
import { filled } from '../support/operations.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { servedPaths } from '../support/served-paths.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { inTime } from '../support/until.ts';

/** What follows the other headers of a request: those of its body, an empty line, and the body. */
const bodies: Record<string, string> = {
  'no body': '\r\n',
  'an empty body': 'Content-Length: 0\r\n\r\n',
  'an empty body in chunks': 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'a body': 'Content-Length: 2\r\n\r\n{}',
  'a body in chunks': 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
  'a body that is not JSON': 'Content-Length: 2\r\n\r\na=',
  'a length that is too short': 'Content-Length: 1\r\n\r\n{}',
  'a length that is too long': 'Content-Length: 3\r\n\r\n{}',
  'chunks without an end': 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n',
  'the wish to continue': 'Content-Length: 2\r\nExpect: 100-continue\r\n\r\n{}',
  'the wish to upgrade': 'Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
};

const types = ['', 'application/json', 'text/plain', '/'];

/** The methods that every path is tried with, in addition to its own. */
const methods = ['GET', 'POST', 'PATCH'];

let combinations = 0;

/** Each body is tried with one content type of each path and method, another one the next time, and with TEST_LONG=1 with all. */
const isTried = (place: number) => (_: unknown, i: number) => {
  if (i === 0) combinations++;
  return isLong || (i + place + Math.floor(combinations / types.length)) % types.length === 0;
};

/** Requests that are sent together. All of them fit into the limit of an address, which some paths count against. */
const TOGETHER = 50;

/** The status line of a response, and its code, after the invitation to send a body. */
const RESPONSE = /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)?HTTP\/1\.1 (\d{3}) /;

/** The status of the response, or the reason why there is none. */
async function statusOf({ origin }: TestApp, request: string): Promise<number | string> {
  const connection = new RawConnection(origin);
  const begun = new Promise<void>(resolve => {
    connection.socket.on('data', () => RESPONSE.test(connection.received) && resolve());
    connection.socket.once('close', () => resolve());
  });
  connection.send(request);
  try {
    await inTime('a response', begun);
    const status = RESPONSE.exec(connection.received)?.[1];
    return status === undefined ? 'the connection closed' : Number(status);
  } catch (error) {
    return (error as Error).message;
  } finally {
    // A stream would not end.
    connection.socket.destroy();
  }
}

before(buildConsole);

it('every path responds to every method with every content type and every kind of body, right or wrong', async t => {
  // Requests that are not complete get 408 soon.
  const shop = await startTestApp(t, { timeouts: { request: 200, check: 20 } });
  const paths = servedPaths();
  for (const path of [
    '/',
    '/docs',
    '/llms.txt',
    '/healthz',
    '/console',
    '/console/assets/{file}',
    '/console/sign-in',
  ])
    assert.ok(
      paths.some(({ template }) => template === path),
      `${path} is missing`,
    );
  const problems: string[] = [];
  for (const { template, methods: own } of paths) {
    const head = `${filled(template, 77)} HTTP/1.1\r\nHost: shop\r\nX-API-Key: ${shop.adminKey}\r\n`;
    const requests = [...new Set([...own, ...methods])].flatMap(method =>
      types.flatMap((type, place) =>
        Object.entries(bodies)
          .filter(isTried(place))
          .map(([kind, body]) => ({
            what: `${method} ${template} as ${type} with ${kind}`,
            bytes: `${method} ${head}${type === '' ? '' : `Content-Type: ${type}\r\n`}${body}`,
          })),
      ),
    );
    for (let first = 0; first < requests.length; first += TOGETHER) {
      shop.clock.advance(MINUTE);
      const sent = requests.slice(first, first + TOGETHER).map(async ({ what, bytes }) => {
        const status = await statusOf(shop, bytes);
        if (typeof status === 'string' || status >= 500) problems.push(`${what}: ${status}`);
      });
      await Promise.all(sent);
    }
  }
  assert.deepEqual(problems, []);
  assert.ok(shop.logLines().every(({ level }) => level === 30));
});
