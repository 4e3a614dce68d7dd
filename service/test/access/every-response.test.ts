import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Decision, Terms } from '../../src/counters/decide.ts';
import type { WindowLimits } from '../../src/counters/windows.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { History } from '../counters/history.ts';
import type { ApiResponse } from '../support/client.ts';
import { assertMatchesContract } from '../support/contract.ts';
import { sized } from '../support/long.ts';
import { Random } from '../support/random.ts';
import { RawConnection } from '../support/raw-connection.ts';
import { exchangeBytes } from '../support/raw-http.ts';
import { startTestApp, type TestApp } from '../support/test-app.ts';
import { TestClock } from '../support/test-clock.ts';
import { onPostgres } from '../support/test-store.ts';
import { limitsIn } from './limit-headers.ts';
import {
  administrators,
  anyKey,
  byAddress,
  endingConnection,
  type Kind,
  unreadable,
  withoutScope,
} from './response-kinds.ts';

/** How many responses each test checks. PostgreSQL is slower. */
const RESPONSES = sized(3_000, onPostgres ? 10_000 : 50_000);

/** A test that lacks a kind of response continues until it has checked this many. */
const MOST_RESPONSES = 5 * RESPONSES;

/** `RESPONSES_SEED=…` sends the requests of an earlier run again. */
const SEED = Number(process.env.RESPONSES_SEED ?? Date.now() | 0);

const FREE: WindowLimits = { perMinute: 60, perDay: 1_000 };
const UNKNOWN_KEY = 'psk_0123456789ABCDEFGHIJKLMNOPQRSTUV4PZz5w';

/** One response in this many is checked against the contract: checking every response would take longer than the rest of the test. */
const CONTRACT_SAMPLE = 25;

/** By their status, and those of 429 by their code. */
const KINDS = [
  ...[200, 201, 204, 304, 400, 401, 403, 404, 405, 406, 409, 410, 412, 413, 414, 415, 422, 431].map(String),
  ...['rate_limit_exceeded', 'api_key_banned'],
];

/** A history, and the documented terms of its subject. */
interface Count {
  history: History;
  terms: Terms;
}

function aCount(limits: WindowLimits, isBannable: boolean): Count {
  const banRules = {
    ...{ forgiveness: 2 * SECOND, strikes: 10, strikesWithin: MINUTE, decay: 24 * HOUR },
    durations: [1, 5, 15, 60].map(minutes => minutes * MINUTE),
  };
  return {
    history: new History(),
    terms: { limits, bansLiftedAt: 0, banRules: isBannable ? banRules : undefined },
  };
}

interface Caller {
  key: string;
  isAdmin: boolean;
  /** How many requests it sends at once at most. */
  atOnce: number;
  address: string;
  byKey: Count;
  byAccount: Count;
  byAddress: Count;
  connection: RawConnection;
}

const keys: [plan: 'free' | 'pro' | 'business' | 'enterprise', quotas: WindowLimits][] = [
  ['enterprise', { perMinute: 1, perDay: 3 }],
  ['enterprise', { perMinute: 5, perDay: 40 }],
  ['enterprise', { perMinute: 40, perDay: 50 }],
  ['enterprise', { perMinute: 2_000, perDay: 20 }],
  ['enterprise', { perMinute: 1_000_000, perDay: 1_000_000_000 }],
  ['enterprise', { perMinute: Number.MAX_SAFE_INTEGER, perDay: Number.MAX_SAFE_INTEGER }],
  ['free', FREE],
  ['pro', { perMinute: 300, perDay: 10_000 }],
  ['business', { perMinute: 1_000, perDay: 100_000 }],
];

async function aCaller({ clientWith, origin }: TestApp, i: number): Promise<Caller> {
  const [plan, quotas] = keys[i % keys.length]!;
  const isAdmin = i >= keys.length;
  const scopes = isAdmin ? ['admin'] : ['pets:read', 'pets:write', 'orders:read', 'orders:write'];
  const { key } = await clientWith({ plan, scopes, ...(plan === 'enterprise' && { quotas }) });
  return {
    key,
    isAdmin,
    address: `192.0.2.${i}`,
    connection: new RawConnection(origin),
    // Few for small quotas: otherwise most of the responses would report bans.
    atOnce: Math.min(60, 3 + 2 * Math.min(quotas.perMinute, quotas.perDay)),
    byKey: aCount(quotas, true),
    byAccount: aCount(FREE, false),
    byAddress: aCount(FREE, false),
  };
}

function bytesOf({ method, target, key, headers = [], body = '' }: Kind, caller: Caller): string {
  const presented = { own: caller.key, none: undefined, mistyped: 'psk_mistyped', unknown: UNKNOWN_KEY }[key];
  const lines = ['Host: shop', `X-Forwarded-For: ${caller.address}`, ...headers];
  if (presented !== undefined) lines.push(`X-API-Key: ${presented}`);
  if (body !== '') lines.push(`Content-Length: ${body.length}`);
  return `${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

function drawKinds({ isAdmin, atOnce }: Caller, random: Random): Kind[] {
  const addressed = random.pick(byAddress);
  const kinds = Array.from({ length: random.between(1, atOnce) }, () => {
    if (random.next() < 0.15) return random.pick(addressed);
    if (random.next() < 0.1) return random.pick(isAdmin ? administrators : withoutScope);
    return random.pick(anyKey);
  });
  return random.next() < 0.3 ? [...kinds, random.pick(endingConnection)] : kinds;
}

/** A time without requests, in milliseconds: mostly none or some seconds, sometimes hours or days. */
function drawPause(random: Random): number {
  const dice = random.next();
  if (dice < 0.3) return 0;
  if (dice < 0.93) return random.between(1, 20 * SECOND);
  return dice < 0.98 ? random.between(1, 3 * HOUR) : random.between(1, 2 * DAY);
}

/** Fails unless the headers are the expected ones, and the status is that of the kind or of the rejection. */
function check(response: ApiResponse, status: number, expected: Decision, now: number, what: string): void {
  const { limit, remaining, reset } = limitsIn(response, now);
  const actual = `${limit} ${remaining} ${reset} ${response.status} ${response.body?.code ?? ''}`;
  const isRejected = expected.verdict !== 'admitted';
  const rejection = expected.verdict === 'banned' ? 'api_key_banned' : 'rate_limit_exceeded';
  const code = isRejected && response.body ? rejection : (response.body?.code ?? '');
  const wanted = `${expected.limit} ${expected.remaining} ${expected.reset} ${isRejected ? 429 : status} ${code}`;
  assert.equal(actual, wanted, `${what} at ${new Date(now).toISOString()}`);
  assert.equal(response.headers['retry-after'] !== undefined, isRejected, what);
}

interface Exchange {
  kind: Kind;
  response: ApiResponse;
}

/**
 * Whether a rejection is that of a ban. A response to HEAD has no body, but the Content-Length of the one to GET (RFC 9110, section 8.6):
 * the other rejections of its batch show what has this length.
 */
function isBan({ kind, response }: Exchange, batch: readonly Exchange[]): boolean {
  if (response.body) return response.body.code === 'api_key_banned';
  const others = batch
    .filter(other => other.kind.counted === kind.counted)
    .map(other => other.response)
    .filter(({ status, body }) => status === 429 && body);
  const length = response.headers['content-length'];
  const { body } = others.find(({ headers }) => headers['content-length'] === length) ?? {};
  return body ? body.code === 'api_key_banned' : others.some(({ body }) => body.code !== 'api_key_banned');
}

/**
 * The order in which the requests of a batch were decided, as their responses show it: a response with more remaining is
 * the earlier one, then follow those that count nothing, then the rejections, those of a ban last. PostgreSQL looks their keys up on
 * several connections, so that they are not always decided in the order in which they were sent.
 */
function inOrderOfDecision(batch: readonly Exchange[]): Exchange[] {
  const placeOf = (exchange: Exchange): number[] => {
    const { status, headers } = exchange.response;
    // A ban ends no earlier than the window that is used up.
    if (status === 429) return [1, Number(headers['x-ratelimit-reset']), isBan(exchange, batch) ? 1 : 0];
    return [0, -Number(headers['x-ratelimit-remaining']), exchange.kind.counted === 'nothing' ? 1 : 0];
  };
  const places = new Map(batch.map(exchange => [exchange, placeOf(exchange)]));
  return batch.toSorted((a, b) => {
    const [before, after] = [places.get(a)!, places.get(b)!];
    const i = before.findIndex((value, i) => value !== after[i]);
    return i < 0 ? 0 : before[i]! - after[i]!;
  });
}

class Walk {
  readonly #shop: TestApp;
  readonly #random = new Random(SEED);
  readonly #callers: Caller[];
  /** Requests that cannot be read count against the address of the proxy. */
  readonly #proxy = aCount(FREE, false);
  readonly #seen = new Map<string, number>();
  #responses = 0;
  #rounds = 0;

  constructor(shop: TestApp, callers: Caller[]) {
    this.#shop = shop;
    this.#callers = callers;
  }

  /** How many responses of each kind were checked. */
  get seen(): ReadonlyMap<string, number> {
    return this.#seen;
  }

  get logLines(): object[] {
    return this.#shop.logLines();
  }

  get missing(): string[] {
    return KINDS.filter(kind => !this.#seen.has(kind));
  }

  async run(): Promise<void> {
    while (this.#responses < RESPONSES || (this.missing.length > 0 && this.#responses < MOST_RESPONSES)) {
      this.#shop.clock.advance(drawPause(this.#random));
      await Promise.all(this.#callers.map(caller => this.#sendBatch(caller)));
      await this.#sendUnreadable();
    }
  }

  async #sendBatch(caller: Caller): Promise<void> {
    const kinds = drawKinds(caller, this.#random);
    const now = this.#shop.clock.now();
    if (caller.connection.socket.destroyed) caller.connection = new RawConnection(this.#shop.origin);
    const responses = await caller.connection.exchange(
      kinds.map(kind => ({ method: kind.method, bytes: bytesOf(kind, caller) })),
    );
    if (responses.at(-1)!.headers.connection === 'close') caller.connection.socket.destroy();
    const exchanges = kinds.map((kind, i) => ({ kind, response: responses[i]! }));
    for (const { kind, response } of onPostgres ? inOrderOfDecision(exchanges) : exchanges) {
      const { method, target, status, counted } = kind;
      const subject = { key: caller.byKey, account: caller.byAccount }[counted as string] ?? caller.byAddress;
      const { history, terms } = subject;
      const expected = counted === 'nothing' ? history.peek(terms, now) : history.decide(terms, now);
      check(response, status, expected, now, `${method} ${target.slice(0, 50)} of ${caller.address}`);
      this.#note(response);
      if (this.#responses % CONTRACT_SAMPLE === 0)
        assertMatchesContract({ method, path: target, ...response });
    }
  }

  async #sendUnreadable(): Promise<void> {
    const [status, bytes] = unreadable[this.#rounds++ % unreadable.length]!;
    const now = this.#shop.clock.now();
    const response = await exchangeBytes(this.#shop.origin, bytes);
    const { history, terms } = this.#proxy;
    const expected = history.decide(terms, now);
    // An unreadable request gets its 400 or 431 even when the address has nothing left.
    check(response, status, { ...expected, verdict: 'admitted' }, now, bytes.slice(0, 30));
    this.#note(response);
  }

  #note({ status, body }: ApiResponse): void {
    this.#responses++;
    const kind = status === 429 && body ? body.code : String(status);
    this.#seen.set(kind, (this.#seen.get(kind) ?? 0) + 1);
  }
}

async function startWalk(t: TestContext, start: string): Promise<Walk> {
  const shop = await startTestApp(t, {
    clock: new TestClock(start),
    environment: { PETSTORE_TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'warn' },
  });
  assert.equal((await shop.api.post('/categories', { name: 'Dogs' })).status, 201);
  await shop.clientWith({});
  const revoked = await shop.clientWith({});
  assert.equal((await shop.api.delete(`/keys/${revoked.keyId}`)).status, 204);
  const callers: Caller[] = [];
  for (let i = 0; i < 2 * keys.length; i++) callers.push(await aCaller(shop, i));
  t.after(() => {
    for (const { connection } of callers) connection.socket.destroy();
  });
  return new Walk(shop, callers);
}

describe(`each of ${RESPONSES.toLocaleString('en')} responses of all kinds`, () => {
  for (const [when, start] of [
    ['in the middle of a minute, after the sunset of an operation', '2031-01-01T12:00:30Z'],
    ['shortly before the minute, the day and the month end together', '2031-01-31T23:59:50Z'],
  ] as const) {
    it(`has rate-limit headers that match each other and an independent count, ${when}`, async t => {
      t.diagnostic(`seed ${SEED}`);
      const walk = await startWalk(t, start);
      try {
        await walk.run();
      } catch (error) {
        // Without Redis, for example, counts are those of one process.
        t.diagnostic(`the log: ${JSON.stringify(walk.logLines)}`);
        throw error;
      }
      t.diagnostic([...walk.seen].map(([kind, times]) => `${kind}: ${times}`).join(', '));
      assert.deepEqual(walk.missing, [], 'no response was of these kinds');
    });
  }
});
