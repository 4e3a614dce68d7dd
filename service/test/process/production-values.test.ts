import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readConfig } from '../../src/config.ts';
import { LEASE, RESPONSE_TIMEOUT } from '../../src/events/webhooks/delivery-rules.ts';
import { defaultTimeouts } from '../../src/http/server.ts';
import { CLOCK_TOLERANCE, DAY, HOUR, MINUTE, SECOND } from '../../src/kit/clock.ts';
import { assertNone } from '../support/values.ts';

const root = join(import.meta.dirname, '../../..');
const source = join(root, 'service/src');
const { drainSeconds, shutdownSeconds, databaseTimeoutSeconds } = readConfig({});

/** The value of a product of numbers and units of time; `undefined` if the text is something else. */
function productOf(text: string): number | undefined {
  const units: Record<string, number> = { SECOND, MINUTE, HOUR, DAY };
  const product = text.replace(/\b[A-Z]+\b/g, unit => String(units[unit] ?? unit)).replaceAll('_', '');
  return /^[\d *()/]+$/.test(product) ? new Function(`return ${product}`)() : undefined;
}

/** The constants of the service that are numbers, by file and name. */
const constants = new Map<string, number>();
/** Those of them that are times, or sizes of slices of longer tasks. */
const timesAndSlices: string[] = [];
for (const path of globSync('**/*.ts', { cwd: source, exclude: ['**/*.test.ts', 'kit/clock.ts'] })) {
  const text = readFileSync(join(source, path), 'utf8');
  const all = text.matchAll(
    /(?:(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n)?^(?:export )?const ([A-Z][A-Z_0-9]*) = (.+);$/gm,
  );
  for (const [, comment = '', name, product] of all) {
    const value = productOf(product!);
    if (value === undefined) continue;
    const key = `${path.slice(0, -3)} ${name}`;
    constants.set(key, value);
    const isTime =
      /\b(SECOND|MINUTE|HOUR|DAY)\b/.test(product!) ||
      /in (milli)?seconds/i.test(comment) ||
      /TIMEOUT|_WAIT$/.test(name!);
    if (isTime || /AT_ONCE|SLICE|^(BATCH|PAGE)$/.test(name!)) timesAndSlices.push(key);
  }
}

const constant = (file: string, name: string) => constants.get(`${file} ${name}`)!;

const { response: responseTimeout } = defaultTimeouts;

type Values = Record<string, [least: number, most: number, why: string]>;

/** What the constants must satisfy, in milliseconds. Other tests shorten them. docs/operations.md and docs/api-guide.md state what they mean. */
const times: Record<string, Values> = {
  app: {
    FLUSH_INTERVAL: [500, 900, 'a crash loses the counts of a second at most, with the time to store them'],
    SHARED_FLUSH_INTERVAL: [SECOND, 5 * SECOND, 'Redis has the counts that a crash would lose'],
    SWEEP_INTERVAL: [SECOND, 5 * MINUTE, 'the alert on sweeps begins after 15 minutes'],
    WEBHOOK_TIMEOUT: [SECOND, 5 * SECOND, 'shutdown'],
  },
  'access/api-keys/administrator-keys': {
    CONSOLE_KEY_LIFETIME: [DAY, 30 * DAY, 'a forgotten session ends'],
  },
  'access/api-keys/key-ring': {
    FRESH_FOR: [100, SECOND, 'all replicas apply the change of a key within a second'],
  },
  'access/api-keys/sign-in-ticket': {
    TICKET_LIFETIME: [MINUTE, 15 * MINUTE, 'a link that signs in expires'],
  },
  'access/leaked-keys/leaked-keys': {
    REPORTED_EVERY: [HOUR, 7 * DAY, 'a secret that is found again and again has few events'],
    SLICE: [1, 25, 'no request blocks the loop for more than 25 ms'],
  },
  'batches/batch-routes': { SLICE: [1, 25, 'no request blocks the loop for more than 25 ms'] },
  'catalog/pets/search/search-index': {
    LONGEST_WAIT: [SECOND, responseTimeout / 2, 'a batch responds before its deadline'],
  },
  'commands/shut-down': {
    SHORTEST_DRAIN: [50, 200, 'Ctrl-C is quick'],
    SAME_SIGNAL: [500, 2 * SECOND, 'a second Ctrl-C ends the drain'],
  },
  'commands/sign-in-link': { TIMEOUT: [SECOND, 10 * SECOND, 'the command ends'] },
  'counters/redis': {
    KEY_TTL: [DAY + HOUR, 7 * DAY, 'a state outlives its day on every clock'],
    DAY_MARGIN: [CLOCK_TOLERANCE, DAY, 'clocks may differ'],
    MINUTE_MARGIN: [CLOCK_TOLERANCE, HOUR, 'clocks may differ'],
    CHECK_INTERVAL: [100, SECOND, 'a replica detects the loss of data of Redis within a second'],
  },
  'counters/redis-link': {
    TIMEOUT: [500, SECOND, 'a request does not wait longer for Redis'],
    RECONNECT_DELAY: [100, SECOND, 'limits are shared again soon'],
    BLOCKED: [20, 200, 'a blocked process does not give Redis up'],
  },
  'db/check-store': { TIMEOUT: [SECOND, 10 * SECOND, 'another process may recover the store'] },
  'db/embedded-source': { TIMEOUT: [SECOND, 10 * SECOND, 'a command may run'] },
  'db/event-ranges': { TIMEOUT: [SECOND, 10 * SECOND, 'a command may run'] },
  'db/replace-store': { TIMEOUT: [SECOND, 10 * SECOND, 'a command may run'] },
  'db/store-lock': {
    TIMEOUT: [100, SECOND, 'a second service is rejected soon'],
    ALONE_TIMEOUT: [SECOND, 10 * SECOND, 'a command may run'],
    SHARED_TIMEOUT: [5 * SECOND, 30 * SECOND, 'a restore may run'],
  },
  'db/postgres': {
    RESPONSE_MARGIN: [500, SECOND, 'the 503 of a server that hangs is at most 3 s late'],
    UNNUMBERED_AGE: [
      5 * SECOND,
      30 * SECOND,
      'events that are about to get their numbers under load raise no alert',
    ],
  },
  'db/postgres-groups': {
    MAX_DURATION: [5, 25, 'the first operation of a group waits for its last'],
    LONGEST_WAIT: [100, SECOND, 'writes do not wait for one failed group after another'],
  },
  'db/postgres-listener': {
    RECONNECT_DELAY: [100, SECOND, 'a lost notification costs at most a second'],
    POLL_INTERVAL: [50, 100, 'events arrive up to 100 ms later behind a pooler'],
  },
  'db/postgres-relay': {
    POLL_INTERVAL: [100, SECOND, 'another replica numbers events within a second'],
    GATHER_DELAY: [1, 10, 'an event waits for others no longer than a group of writes'],
  },
  'db/postgres-start': {
    CLOSE_TIMEOUT: [500, SECOND, 'shutdown'],
  },
  'db/migrate-postgres': {
    LOCK_TIMEOUT: [20, 100, 'requests wait for a migration that waits for a table'],
    PAUSE: [100, SECOND, 'requests run between two tries of a migration'],
  },
  'db/postgres-confirmations': {
    CANCEL_TIMEOUT: [500, SECOND, 'the 503 is at most 3 s late'],
    PROBE_PAUSE: [50, SECOND, 'writes are accepted soon after the standby is back'],
  },
  'db/postgres-features': {
    WAIT_TIMEOUT: [SECOND, 5 * SECOND, 'the start ends soon when a notification is lost'],
  },
  'db/postgres-primary': {
    RESPONSE_TIMEOUT: [SECOND, 5 * SECOND, 'a server that hangs is no longer the primary'],
    INTERVAL: [100, SECOND, 'writes succeed again within 2 s of a promotion'],
    OTHERS_TIMEOUT: [50, 500, 'the start does not wait for servers that are gone'],
  },
  'db/sqlite': {
    GROUP_DURATION: [1, 10, 'a group of writes takes 10 ms'],
    OPENING_TIMEOUT: [5 * SECOND, MINUTE, 'another process may be migrating'],
    SERVING_TIMEOUT: [50, 250, 'the wait for a lock blocks every request'],
  },
  'db/writability': {
    TIMEOUT: [100, SECOND / 2, '/readyz responds within the second of a probe'],
    FAILURE_DURATION: [SECOND, 10 * SECOND, 'a full disk is not reported as writable'],
  },
  'events/checkpoints': { INTERVAL: [MINUTE, HOUR, 'an anchor of the history every hour'] },
  'events/event-log/event-tail': {
    POLL_INTERVAL: [100, SECOND, 'readers get events of other replicas within a second'],
  },
  'events/webhooks/connections': {
    MAX_IDLE: [SECOND, 5 * SECOND - 1, 'servers close idle connections after 5 s'],
    MAX_AGE: [10 * SECOND, MINUTE, 'a changed address of an endpoint applies'],
  },
  'events/event-log/sealed-log': { SLICE: [1, 50, 'events with their data'] },
  'events/webhooks/delivery-rules': {
    RESPONSE_TIMEOUT: [15 * SECOND, 15 * SECOND, 'receivers have 15 seconds'],
    DISABLE_AFTER: [5 * DAY, 5 * DAY, 'an endpoint is disabled after five days of failures'],
    LONGEST_WAIT: [24 * HOUR, 24 * HOUR, 'a Retry-After of a receiver is honoured up to a day'],
    LAST_EVENT_TIME: [
      10 * MINUTE,
      HOUR,
      'the last event is tried again, and then a webhook of a leaked key stops',
    ],
  },
  'events/webhooks/dispatcher': {
    INTERVAL: [100, SECOND, 'a webhook without rights is disabled within a second'],
  },
  'events/webhooks/lane': {
    SHORTEST_PAUSE: [5, 25, 'a webhook that another replica serves is tried again soon'],
    LONGEST_PAUSE: [5, 25, 'a webhook that another replica serves is tried again soon'],
  },
  'events/webhooks/endpoints': {
    RESOLVE_TIMEOUT: [SECOND, RESPONSE_TIMEOUT, 'the look-up is part of an attempt'],
  },
  'events/webhooks/lane-rules': {
    QUICK: [SECOND / 4, SECOND / 4, 'the pace rises while receivers respond within a quarter of a second'],
    SLOW: [SECOND, SECOND, 'the pace falls when receivers respond later'],
  },
  'http/closing': { SWEEP_INTERVAL: [10, 100, 'shutdown'] },
  'http/connection-limits': {
    EXCESS_TIME: [SECOND, 5 * SECOND, 'an excess connection must send its request within 5 s'],
    LINGER: [500, 2 * SECOND, 'the 503 arrives, and the connection ends'],
  },
  'http/event-connection': {
    RETRY: [SECOND, 5 * SECOND, 'clients of a stream return soon, and not at once'],
    END_TIMEOUT: [500, SECOND, 'shutdown'],
  },
  'http/event-streams': { KEY_CHECK: [100, SECOND, 'the streams of a changed key end within a second'] },
  'http/unreadable': { LINGER: [500, 2 * SECOND, 'the error arrives, and the connection ends'] },
  'http/long-page': { SLICE: [1, 100, 'items of a list'] },
  'contract/idempotency-key': { RETENTION: [DAY, DAY, 'outcomes are stored for 24 hours'] },
  'http/server': { KEEP_ALIVE_TIMEOUT: [61 * SECOND, 2 * MINUTE, 'proxies keep idle connections for 60 s'] },
  'kit/line-buffer': {
    MAX_WAIT: [50, SECOND, 'log lines appear within a second'],
    RETRY: [10, SECOND, 'a slow reader of the log gets the next lines'],
    LAST_WAIT: [100, SECOND, 'shutdown'],
  },
  'kit/postgres-url': {
    DEFAULT_CONNECT_TIMEOUT: [SECOND, 3 * SECOND, 'the 503 of a server that hangs is at most 3 s late'],
    MAX_CONNECT_TIMEOUT: [10 * SECOND, MINUTE, 'a request that hangs ends'],
  },
  'ops/store-figure': { TIMEOUT: [100, SECOND, 'a figure is missing that is not read within a second'] },
  'ops/tracing/exporter': { FIRST_PAUSE: [100, 5 * SECOND, 'a collector that restarts gets the spans'] },
  'ops/tracing/otlp-tracing': {
    TIMEOUT: [500, 2 * SECOND, 'shutdown'],
    REPORT_INTERVAL: [10 * SECOND, MINUTE, 'the loss of spans is logged at most once a minute'],
  },
  'routes/message-sink': {
    HEARTBEAT: [5 * SECOND, 15 * SECOND, 'proxies end a stream that is silent for long'],
  },
};

/** In seconds, for headers. */
const seconds: Record<string, Values> = {
  'http/connection-limits': { RETRY_AFTER: [1, 5, 'a connection is free soon'] },
  'http/gate/rate-limit-errors': { WAIT_FOR_STREAM: [1, 10, 'a stream of the key may end'] },
  'http/gate/cross-origin': { PREFLIGHT_AGE: [600, 7_200, 'browsers allow at most two hours'] },
  'http/should-retry': { LONGEST_HONOURED: [60, 60, 'generated clients ignore a longer Retry-After'] },
  'events/event-routes': { LONGEST_WAIT: [60, 60, 'long polls last up to 60 s'] },
};

/** The numbers of rows, pages or calls between two turns of the event loop, or in one transaction: measured as a few milliseconds. */
const slices: Record<string, Values> = {
  'access/api-keys/api-keys': { SWEPT_AT_ONCE: [1, 500, 'rows'] },
  'access/key-warnings/expiry-warnings': { WARNED_AT_ONCE: [1, 100, 'keys'] },
  'access/key-warnings/quota-warnings': { SWEPT_AT_ONCE: [1, 500, 'rows'] },
  'access/leaked-keys/leaked-keys': { AT_ONCE: [1, 100, 'secrets'] },
  'access/rate-limits/key-limits': { FLUSHED_AT_ONCE: [1, 200, 'keys'], SWEPT_AT_ONCE: [1, 500, 'rows'] },
  'access/rate-limits/key-uses': { FLUSHED_AT_ONCE: [1, 200, 'keys'] },
  'catalog/pets/search/pet-words': { WORDS_AT_ONCE: [1, 100, 'words'] },
  'catalog/pets/search/search': { ROWS_AT_ONCE: [1, 100, 'rows'], CHECKED_AT_ONCE: [1, 20_000, 'pets'] },
  'catalog/pets/search/search-index': { PETS_AT_ONCE: [1, 100, 'pets'], WORK_AT_ONCE: [1, 200, 'pages'] },
  'catalog/pets/search/search-words': { PAIRS_AT_ONCE: [1, 200_000, 'pairs of characters'] },
  'counters/decision-batches': { MAX_CALLS: [1, 100, 'calls, for which Redis does nothing else'] },
  'counters/key-states': { SLICE: [1, 2_000, 'keys'] },
  'counters/redis': { PUBLISHED_AT_ONCE: [1, 500, 'keys'] },
  'db/postgres-writers': { ALONE_AT_ONCE: [1, 2, 'long writes, which occupy connections and locks'] },
  'db/postgres-groups': { MAX_PARTS: [2, 64, 'savepoints: PostgreSQL keeps the IDs of 64 in memory'] },
  'db/snapshot': { SLICE: [1, 1_000, 'pages'] },
  'db/sqlite-log': { PAGES_AT_ONCE: [1, 256, 'pages'] },
  'db/event-seals': { GROUP: [1, 1_000, 'events that expire at once'] },
  'db/verify-seals': { GROUPS_AT_ONCE: [1, 20, 'groups, one after another'] },
  'events/event-log/event-queries': { SLICE: [1, 1_000, 'events without their data'] },
  'events/event-log/event-tail': {
    LISTENERS_PER_TURN: [1, 50, 'streams'],
    CATCH_UPS: [1, 2, 'streams'],
    BATCH: [1, 200, 'events'],
  },
  'events/stream/event-stream': { PAGE: [1, 100, 'events'] },
  'events/webhooks/dispatcher': { PAGE: [1, 100, 'webhooks'] },
  'events/webhooks/delivery-rules': {
    PLANNED_AT_ONCE: [1, 100, 'deliveries'],
    STORED_AT_ONCE: [1, 64, 'outcomes'],
  },
  'events/webhooks/sweep': {
    DELIVERIES: [1, 100, 'rows'],
    ATTEMPTS: [1, 1_000, 'rows'],
    SECRETS: [1, 200, 'rows'],
  },
  'http/owed-responses': { AT_ONCE: [1, 8, 'requests of a pipeline'] },
  'http/long-page': { SLICE: [1, 100, 'items of a list'] },
  'http/idempotency': { SWEPT_AT_ONCE: [1, 500, 'rows'] },
};

const all = [times, seconds, slices].flatMap(Object.entries<Values>);

describe('the production value', () => {
  for (const [file, values] of all) {
    for (const [name, [least, most, why]] of Object.entries(values)) {
      it(`${name} of ${file} is from ${least} to ${most}: ${why}`, () => {
        const value = constant(file, name);
        assert.ok(value >= least && value <= most, String(value));
      });
    }
  }

  it('of each time and each slice in the code is checked here', () => {
    const checked = all.flatMap(([file, values]) => Object.keys(values).map(name => `${file} ${name}`));
    assertNone(timesAndSlices, key => !checked.includes(key));
    assert.ok(timesAndSlices.length > 80);
  });

  it('of the lease of a delivery is at least two attempts, so that no other replica sends during one', () => {
    assert.ok(LEASE >= 2 * RESPONSE_TIMEOUT && LEASE <= 5 * MINUTE);
  });

  it('of the attempts of a migration lasts about two minutes, because a dump can hold its tables', () => {
    const of = (name: string) => constant('db/migrate-postgres', name);
    const wait = of('MAX_ATTEMPTS') * (of('LOCK_TIMEOUT') + 1.5 * of('PAUSE'));
    assert.ok(wait >= 1.5 * MINUTE && wait <= 3 * MINUTE, String(wait));
  });

  it('of the wait for the database leaves time to respond', () => {
    const late =
      constant('db/postgres', 'RESPONSE_MARGIN') + constant('db/postgres-confirmations', 'CANCEL_TIMEOUT');
    assert.ok(late <= 3 * SECOND);
    assert.ok(databaseTimeoutSeconds * SECOND + late < responseTimeout);
  });

  it('of each part of a shutdown ends within PETSTORE_SHUTDOWN_SECONDS, and the drain lasts several checks', () => {
    const parts = [
      constant('app', 'WEBHOOK_TIMEOUT'),
      constant('http/event-connection', 'END_TIMEOUT'),
      constant('db/postgres-start', 'CLOSE_TIMEOUT'),
      constant('ops/tracing/otlp-tracing', 'TIMEOUT'),
      constant('kit/line-buffer', 'LAST_WAIT'),
    ];
    assert.ok(parts.reduce((all, part) => all + part) <= shutdownSeconds * SECOND, String(parts));
    assert.ok(drainSeconds >= 5);
  });

  it('of the steps of a request is half a minute, with checks every second', () => {
    assert.deepEqual(defaultTimeouts, {
      request: 30 * SECOND,
      response: 30 * SECOND,
      check: SECOND,
      reading: 2 * MINUTE,
    });
  });
});
