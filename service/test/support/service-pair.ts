import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { installClient } from './packed-client.ts';
import { type NewKey, startTestApp } from './test-app.ts';

const module = join(installClient().directory, 'node_modules/@petstore/client/dist/testing.js');

export const { signWebhook, testService }: typeof import('../../../sdk/testing/index.ts') = await import(
  pathToFileURL(module).href
);

interface Sent {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** What both services must return alike. Messages, cursors and hashes of keys are the service's own. */
interface Compared {
  status: number;
  headers: Record<string, string | undefined>;
  body: unknown;
}

const headerNames =
  'etag location allow accept-patch cache-control content-type api-version www-authenticate x-ratelimit-limit ' +
  'x-ratelimit-remaining x-ratelimit-reset ratelimit ratelimit-policy retry-after x-should-retry x-stability ' +
  'x-failed-operation x-total-count idempotency-replayed deprecation sunset';

type Page = Compared & { next: string | undefined };

export async function compared(response: Response): Promise<Page> {
  const text = await response.text();
  const link = response.headers.get('link') ?? '';
  return {
    status: response.status,
    headers: {
      ...Object.fromEntries(
        headerNames.split(' ').map(name => [name, response.headers.get(name) ?? undefined]),
      ),
      link: link.replace(/cursor=[^>&]*/, 'cursor=…'),
    },
    body: text === '' ? undefined : JSON.parse(text, withoutOwn),
    next: /<([^>]*)>; rel="next"/.exec(link)?.[1],
  };
}

/** Errors have messages of their own, and events their key, request and number. */
function withoutOwn(field: string, value: unknown): unknown {
  const isOwn = ['message', 'actor', 'requestid', 'id'].includes(field) && typeof value === 'string';
  return isOwn ? '…' : value;
}

/** A service and the test service, each with an empty shop and one API key. Both have the same time. */
export async function servicePair(t: TestContext, key: NewKey = {}) {
  const shop = await startTestApp(t, { alone: false });
  t.mock.timers.enable({ apis: ['Date'], now: shop.clock.now() });
  const client = await shop.clientWith({
    plan: 'enterprise',
    quotas: { perMinute: 1e6, perDay: 1e9 },
    ...key,
  });
  const { plan = 'enterprise', quotas = { perMinute: 1e6, perDay: 1e9 }, scopes = ['admin'] } = key;
  const imitation = testService({ plan, quotas, scopes: scopes as never });
  const services = [
    { origin: shop.origin, key: client.key, fetch: globalThis.fetch },
    { origin: imitation.baseUrl, key: imitation.apiKey, fetch: imitation.fetch },
  ] as const;

  const sendTo = ({ origin, key, fetch }: (typeof services)[number], { method, path, body, headers }: Sent) =>
    fetch(origin + path, {
      method,
      headers: {
        'x-api-key': key,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });

  return {
    services,
    advance: (milliseconds: number) => {
      shop.clock.advance(milliseconds);
      t.mock.timers.tick(milliseconds);
    },
    /** Sends a request to both, and fails unless they respond alike. Returns the response. */
    async send(
      method: string,
      path: string,
      body?: unknown,
      headers?: Record<string, string>,
    ): Promise<Compared> {
      const sent: Sent = { method, path, ...(body !== undefined && { body }), ...(headers && { headers }) };
      const [{ next: _, ...real }, { next: __, ...imitated }] = await Promise.all([
        sendTo(services[0], sent).then(compared),
        sendTo(services[1], sent).then(compared),
      ]);
      assert.deepEqual(imitated, real, JSON.stringify(sent));
      return real;
    },
    /** Compares all pages of a list. Returns their number, which is 0 if the list does not exist. */
    async pages(path: string): Promise<number> {
      let paths = [path, path];
      for (let count = 1; ; count++) {
        const responses = services.map((service, i) =>
          sendTo(service, { method: 'GET', path: paths[i]! }).then(compared),
        );
        const [{ next, ...real }, { next: nextImitated, ...imitated }] = (await Promise.all(responses)) as [
          Page,
          Page,
        ];
        // The header `Link` shows whether there is a next page.
        assert.deepEqual(imitated, real, path);
        if (real.status !== 200) return 0;
        if (next === undefined) return count;
        paths = [next, nextImitated!];
      }
    },
  };
}
