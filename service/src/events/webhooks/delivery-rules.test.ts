import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Scope } from '../../contract/scopes.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../../kit/clock.ts';
import { httpDate } from '../../kit/dates.ts';
import type { DeliveryRow, HeldDelivery, LeasedDelivery } from './delivery-queries.ts';
import * as rules from './delivery-rules.ts';
import type { WebhookRow } from './webhook-queries.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

const webhook: WebhookRow = {
  ...{ id: 1, api_key_id: 2, url: 'https://hooks.example/', types: null, description: null, enabled: 1 },
  ...{ disabled_reason: null, disabled_at: null, secret: '', previous_secret: null, position: 0 },
  ...{ previous_secret_expires_at: null, replay_until: null, failing_since: null, created_at: NOW },
  last_event_id: null,
  deleted_at: null,
};

function leased(row: Partial<DeliveryRow> = {}): LeasedDelivery {
  return {
    ...{
      id: 1,
      webhook_id: 1,
      event_id: 1,
      type: 'category.created',
      subject: 'categories/1',
      payload: '{}',
    },
    ...{ status: 'pending', attempts: 0, failures: 0, created_at: NOW, finished_at: null },
    ...{ next_attempt_at: NOW + rules.LEASE, ...row, leased_until: row.leased_until ?? NOW + rules.LEASE },
  };
}

function outcome(status: number | null, more: Partial<rules.Outcome> = {}): rules.Outcome {
  const error = status !== null && status < 300 ? null : `Status ${status}`;
  const result = error === null ? 'delivered' : 'rejected';
  return { result, status, retryAfter: undefined, error, responseStart: null, duration: 10, ...more };
}

function ended(
  delivery: LeasedDelivery,
  status: number | null,
  more: Partial<rules.Outcome> = {},
): rules.Ended {
  return { delivery, attempted: { startedAt: NOW, outcome: outcome(status, more), random: 0.5 } };
}

/** What follows from one attempt of a delivery. */
function after(
  delivery: LeasedDelivery,
  status: number | null,
  {
    now = NOW,
    hook = webhook,
    hasEarlier = false,
    ...more
  }: Partial<rules.Outcome> & {
    now?: number;
    hook?: WebhookRow;
    hasEarlier?: boolean;
  } = {},
) {
  const held: HeldDelivery = { ...delivery, has_earlier: hasEarlier ? 1 : 0 };
  const effects = rules.afterAttempts(hook, [held], [ended(delivery, status, more)], now);
  return { ...effects, change: effects.changes[0]! };
}

/** What follows from attempts of different deliveries that one transaction stores. */
function afterAll(all: rules.Ended[], hook = webhook) {
  const held = all.map(({ delivery }) => ({ ...delivery, has_earlier: 0 }) as const);
  return rules.afterAttempts(hook, held, all, NOW);
}

describe('the schedule of attempts', () => {
  const failed = { status: 500, retryAfter: undefined };

  it('varies each pause by a fifth at most, and ends with the tenth attempt', () => {
    const pauses = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR];
    for (const [i, pause] of [...pauses, 24 * HOUR].entries()) {
      for (const [random, factor] of [
        [0, 0.8],
        [0.5, 1],
        [1, 1.2],
      ] as const)
        assert.equal(rules.nextAttemptAt(i + 1, failed, NOW, random), NOW + factor * pause);
    }
    assert.equal(rules.nextAttemptAt(10, { status: 503, retryAfter: '5' }, NOW, 0.5), undefined);
  });

  const cases: [what: string, status: number, retryAfter: string, wait: number][] = [
    ['in seconds is obeyed with 429', 429, '3600', HOUR],
    ['in seconds is obeyed with 503', 503, '90', 90 * SECOND],
    ['as a date is obeyed', 503, httpDate(NOW + 2 * HOUR), 2 * HOUR],
    ['sooner than the schedule is ignored', 429, '1', 5 * SECOND],
    ['in the past is ignored', 429, httpDate(NOW - HOUR), 5 * SECOND],
    ['of more than a day counts as a day', 429, '31536000', DAY],
    ['that is invalid is ignored', 429, 'soon', 5 * SECOND],
    ['with another status is ignored', 500, '3600', 5 * SECOND],
  ];
  for (const [what, status, retryAfter, wait] of cases) {
    it(`has a \`Retry-After\` that ${what}`, () =>
      assert.equal(rules.nextAttemptAt(1, { status, retryAfter }, NOW, 0.5), NOW + wait));
  }

  it('is never shortened by `Retry-After`, nor extended beyond a day', () => {
    const date = fc.date({ noInvalidDate: true }).map(String);
    const retryAfter = fc.oneof(fc.string(), fc.nat().map(String), date);
    const status = fc.constantFrom(null, 200, 429, 500, 503);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), status, retryAfter, (failures, status, retryAfter) => {
        const next = rules.nextAttemptAt(failures, { status, retryAfter }, NOW, 0.5)!;
        const scheduled = rules.nextAttemptAt(failures, failed, NOW, 0.5)!;
        assert.ok(next >= scheduled && next <= Math.max(scheduled, NOW + 24 * HOUR), String(next));
      }),
    );
  });
});

describe('a delivery', () => {
  it('that was accepted is delivered; one that failed waits for its next attempt, and is dead after the last', () => {
    const done = after(leased({ attempts: 3, failures: 3 }), 204).change;
    assert.deepEqual([done.status, done.attempts, done.failures, done.finished_at], ['delivered', 4, 3, NOW]);
    const failed = after(leased({ attempts: 1, failures: 1 }), 500).change;
    assert.deepEqual(
      [failed.status, failed.failures, failed.next_attempt_at],
      ['pending', 2, NOW + 5 * MINUTE],
    );
    const dead = after(leased({ attempts: 9, failures: 9 }), null).change;
    assert.deepEqual(
      [dead.status, dead.attempts, dead.next_attempt_at, dead.finished_at],
      ['dead', 10, null, NOW],
    );
  });

  it('is attempted once if it is a test or withheld', () => {
    assert.equal(after(leased({ type: 'webhook.test' }), 500).change.status, 'dead');
    assert.equal(after(leased(), null, { result: 'withheld' }).change.status, 'dead');
  });

  it('whose attempt was aborted is due at once, and has no attempt', () => {
    const delivery = leased({ attempts: 2, failures: 1 });
    const held = { ...delivery, has_earlier: 0 } as const;
    const { changes, attempts } = rules.afterAttempts(
      webhook,
      [held],
      [{ delivery, attempted: undefined }],
      NOW,
    );
    const { status, failures, next_attempt_at } = changes[0]!;
    assert.deepEqual([status, changes[0]!.attempts, failures, next_attempt_at], ['pending', 2, 1, NOW]);
    assert.deepEqual(attempts, []);
  });

  it('that another process has claimed is not changed by a late outcome, even together with the outcome of that process', () => {
    const [late, current] = [leased(), leased({ leased_until: NOW + 2 * rules.LEASE })];
    const held = { ...current, has_earlier: 0 } as const;
    const both = [ended(late, 204), { delivery: current, attempted: undefined }];
    const { changes, attempts } = rules.afterAttempts(webhook, [held], both, NOW);
    assert.deepEqual([changes.length, changes[0]!.status, attempts.length], [1, 'pending', 0]);
    assert.deepEqual(rules.afterAttempts(webhook, [], [ended(late, 410)], NOW).webhook, webhook);
  });

  it('is withheld if the key lacks the scope of its event; a test, and a leak of and warnings about the key itself, never are', () => {
    const reason = (type: string, scopes: Scope[], subject = 'categories/1') =>
      rules.withheldReason({ type, subject }, { keyId: 2, scopes: new Set(scopes) });
    for (const type of ['pet.created', 'category.deleted', 'webhook.test', 'log.restored'])
      assert.equal(reason(type, ['pets:read', 'events:read']), undefined, type);
    assert.equal(
      reason('order.placed', ['pets:read']),
      'the API key that created the webhook lacks the scope `orders:read` for events `order.placed`',
    );
    assert.match(reason('key.created', ['pets:read'], 'keys/2')!, /`admin`/);
    assert.equal(reason('key.created', ['admin'], 'keys/2'), undefined);
    assert.equal(reason('key.leaked', ['pets:read'], 'keys/2'), undefined);
    assert.match(reason('key.leaked', ['pets:read'], 'keys/22')!, /`admin`/);
    assert.equal(reason('key.quota_reached', ['events:read'], 'keys/2'), undefined);
    assert.match(reason('key.quota_reached', ['events:read'], 'keys/22')!, /`admin`/);
    assert.equal(reason('key.expiring', ['admin'], 'keys/22'), undefined);
  });
});

describe('a webhook', () => {
  const failing = { ...webhook, failing_since: NOW - 5 * DAY };
  const last = leased({ attempts: 9, failures: 9 });

  it('is disabled by 410 at once, with the trace of the event', () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const { webhook: hook, traceId } = after(
      { ...leased(), payload: `{"traceparent":"${traceparent}"}` },
      410,
    );
    assert.deepEqual(
      [hook.enabled, hook.disabled_reason, hook.disabled_at, traceId],
      [0, 'The endpoint returned status 410 (Gone)', NOW, '4bf92f3577b34da6a3ce929d0e0e4736'],
    );
  });

  it('fails since its first failed attempt after the last success', () => {
    assert.equal(after(leased(), 500).webhook.failing_since, NOW);
    assert.equal(after(leased(), 500, { hook: failing }).webhook.failing_since, failing.failing_since);
    // From a clock that ran ahead.
    const future = { ...failing, failing_since: NOW + DAY };
    assert.equal(after(leased(), 500, { hook: future }).webhook.failing_since, NOW);
    assert.equal(after(leased(), 200, { hook: failing }).webhook.failing_since, null);
    assert.equal(after(leased(), null, { result: 'withheld' }).webhook, webhook);
  });

  it('is changed by each of several outcomes, and begins to fail with the error of its own attempt', () => {
    const [one, other] = [leased(), leased({ id: 2 })];
    assert.equal(afterAll([ended(one, 410), ended(other, 204)]).webhook.enabled, 0);
    const again = afterAll([ended(one, 204), ended(other, 500)], failing);
    assert.deepEqual([again.webhook.failing_since, again.failure], [NOW, 'Status 500']);
    const works = afterAll([ended(one, 500), ended(other, 204)], failing);
    assert.equal(works.webhook.failing_since, null);
    const test = leased({ id: 3, type: 'webhook.test' });
    const { failure } = afterAll([ended(test, 404), ended(one, 500), ended(other, 503)]);
    assert.equal(failure, 'Status 500');
  });

  it('is disabled when a delivery dies and none was accepted for five days', () => {
    const { webhook: hook } = after(last, 500, { hook: failing });
    assert.equal(hook.disabled_reason, 'The endpoint has accepted no delivery for 5 days');
    const notYet = { ...failing, failing_since: failing.failing_since + 1 };
    assert.equal(after(last, 500, { hook: notYet }).webhook.enabled, 1);
    assert.equal(after(leased(), 500, { hook: failing }).webhook.enabled, 1, 'no delivery died');
    assert.equal(after(last, null, { hook: failing, result: 'withheld' }).webhook.enabled, 1);
  });

  it('is not changed by a test event, whatever the endpoint returns', () => {
    for (const hook of [webhook, failing])
      for (const status of [204, 410, 500])
        assert.equal(after(leased({ type: 'webhook.test' }), status, { hook }).webhook, hook, `${status}`);
  });

  it('that is disabled keeps its reason', () => {
    const stopped = { ...failing, enabled: 0, disabled_reason: 'Stopped', disabled_at: 1 } as const;
    assert.equal(after(last, 410, { hook: stopped }).webhook.disabled_reason, 'Stopped');
  });

  it('has a window of 500 deliveries that are ready and 5,000 that are pending, with room for 100', () => {
    assert.equal(rules.isWindowFull({ untried: 400, pending: 4_900 }), false);
    assert.equal(rules.isWindowFull({ untried: 401, pending: 401 }), true);
    assert.equal(rules.isWindowFull({ untried: 0, pending: 4_901 }), true);
  });
});

/** The deliveries of a webhook as the store has them, and the processes that send them. */
class Model {
  now = NOW;
  rows: DeliveryRow[] = [];
  readonly sent: LeasedDelivery[] = [];

  pending(subject: string): DeliveryRow[] {
    return this.rows.filter(row => row.subject === subject && row.status === 'pending');
  }

  plan(subjects: string[]): void {
    const busy = new Set(subjects.filter(subject => this.pending(subject).length > 0));
    const times = rules.firstAttempts(
      subjects.map(subject => ({ subject })),
      busy,
      this.now,
    );
    for (const [i, subject] of subjects.entries()) {
      const { payload: _, ...row } = leased({ id: this.rows.length + 1, subject });
      this.rows.push({ ...row, next_attempt_at: times[i]!, leased_until: null });
    }
  }

  claim(limit: number): void {
    const isDue = (row: DeliveryRow) => row.next_attempt_at !== null && row.next_attempt_at <= this.now;
    for (const row of this.rows.filter(isDue).slice(0, limit)) {
      row.next_attempt_at = row.leased_until = this.now + rules.LEASE;
      this.sent.push({ ...row, leased_until: row.leased_until, payload: '{}' });
    }
  }

  /** Ends the oldest attempts, also those whose lease has expired. */
  end(statuses: (number | undefined)[]): void {
    const all = this.sent.splice(0, statuses.length);
    const outcomes = all.map((delivery, i) =>
      statuses[i] === undefined ? { delivery, attempted: undefined } : ended(delivery, statuses[i]),
    );
    const held = this.rows
      .filter(
        row =>
          row.status === 'pending' &&
          all.some(one => one.id === row.id && one.leased_until === row.leased_until),
      )
      .map(row => ({ ...row, has_earlier: this.pending(row.subject)[0]!.id < row.id ? 1 : 0 }) as const);
    const { changes, released } = rules.afterAttempts(webhook, held, outcomes, this.now);
    this.#change(changes);
    for (const subject of released) {
      const first = this.pending(subject)[0];
      if (first) first.next_attempt_at ??= this.now;
    }
  }

  redeliver(place: number): void {
    const row = this.rows[place % (this.rows.length || 1)];
    if (!row || rules.isSent(row, this.now)) return;
    const scheduled = this.pending(row.subject).find(one => one !== row && one.next_attempt_at !== null);
    this.#change(rules.redelivered(row, scheduled && { ...scheduled }, this.now));
  }

  #change(changes: rules.Effects['changes']): void {
    for (const change of changes) Object.assign(this.rows[change.id - 1]!, change, { leased_until: null });
  }

  /** Of the pending deliveries of each subject one is scheduled: the first, unless a later one is being sent. */
  check(): void {
    for (const subject of new Set(this.rows.map(row => row.subject))) {
      const pending = this.pending(subject);
      const scheduled = pending.filter(row => row.next_attempt_at !== null);
      assert.equal(scheduled.length, Math.min(1, pending.length), subject);
      const [one] = scheduled;
      assert.ok(!one || one === pending[0] || one.leased_until !== null, `${subject} is not in order`);
    }
  }
}

describe('the order of deliveries', () => {
  const subjects = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 5 });
  const step = fc.oneof(
    subjects.map(planned => (model: Model) => model.plan(planned)),
    fc.nat({ max: 4 }).map(limit => (model: Model) => model.claim(limit)),
    fc
      .array(fc.constantFrom(200, 500, undefined), { maxLength: 3 })
      .map(all => (model: Model) => model.end(all)),
    fc.nat().map(place => (model: Model) => model.redeliver(place)),
    fc.constantFrom(SECOND, rules.LEASE, DAY).map(time => (model: Model) => {
      model.now += time;
    }),
  );

  it('is kept within a subject, whatever happens, and no delivery is forgotten', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        const model = new Model();
        for (const take of steps) {
          take(model);
          model.check();
        }
        // All endpoints recover.
        for (let rounds = 0; model.rows.some(row => row.status === 'pending'); rounds++) {
          assert.ok(rounds <= 2 * model.rows.length + 2, 'a delivery is never sent');
          model.now += DAY * 1.2;
          model.claim(10);
          model.end(model.sent.map(() => 200));
          model.check();
        }
      }),
      { numRuns: 300 },
    );
  });

  it('lets a redelivery pass later deliveries, but not while one of them is being sent', () => {
    const row = (id: number, more: Partial<DeliveryRow>) => ({
      ...leased({ id }),
      leased_until: null,
      ...more,
    });
    const [first, later] = [
      row(1, { status: 'dead', failures: 10 }),
      row(2, { next_attempt_at: NOW + HOUR }),
    ];
    const timesOf = (changes: rules.Effects['changes']) =>
      changes.map(change => [change.id, change.next_attempt_at]);
    assert.deepEqual(timesOf(rules.redelivered(first, later, NOW)), [
      [1, NOW],
      [2, null],
    ]);
    assert.equal(rules.redelivered(first, undefined, NOW)[0]!.failures, 0);
    const sent = { ...later, leased_until: NOW + 1 };
    assert.deepEqual(timesOf(rules.redelivered(first, sent, NOW)), [[1, null]]);
    assert.deepEqual(timesOf(rules.redelivered(later, first, NOW)), [[2, null]]);
    const effects = after(leased({ id: 2 }), 500, { hasEarlier: true });
    assert.deepEqual([timesOf(effects.changes), [...effects.released]], [[[2, null]], ['categories/1']]);
  });
});
