import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Scope } from '../../contract/scopes.ts';
import { DAY, MINUTE, SECOND } from '../../kit/clock.ts';
import type { LeasedDelivery } from './delivery-queries.ts';
import { type Ended, LEASE } from './delivery-rules.ts';
import * as rules from './lane-rules.ts';
import type { ActiveWebhook, WebhookRow } from './webhook-queries.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

/** The rules of lanes read nothing else of a webhook and a delivery. */
const webhook = { failing_since: null } as WebhookRow;
const delivery = { leased_until: NOW + LEASE } as LeasedDelivery;

function ended(status: number): Ended {
  const error = status < 300 ? null : `Status ${status}`;
  const result = error === null ? 'delivered' : 'rejected';
  const outcome = {
    result,
    status,
    retryAfter: undefined,
    error,
    responseStart: null,
    duration: 10,
  } as const;
  return { delivery, attempted: { startedAt: NOW, outcome, random: 0.5 } };
}

/** A lane in a process with so many free connections. */
class TestLane {
  readonly state: rules.LaneState;
  free: number;
  request: rules.Request | undefined;
  waits = false;
  now = NOW;
  readonly sent: rules.Claimed[] = [];
  readonly hook: ActiveWebhook = {
    ...{
      id: 1,
      api_key_id: 2,
      url: 'https://hooks.example/',
      types: null,
      position: 5,
      last_event_id: null,
      failing_since: null,
    },
    ...{ due_at: null, last_due_at: null, leased_until: null },
  };

  constructor(free: number) {
    this.free = free;
    this.state = rules.newLane(this.hook);
  }

  step(input: rules.Input): this {
    const actions = rules.decide(this.state, input, this.now, wanted => {
      const taken = Math.min(this.free, wanted);
      this.free -= taken;
      return taken;
    });
    this.free += actions.unused;
    this.waits = actions.waits;
    this.request = actions.request ?? (this.state.isBusy ? this.request : undefined);
    this.sent.push(...actions.send);
    return this;
  }

  read(more: Partial<ActiveWebhook> = {}, latest = 5, rechecks = false): this {
    return this.step({ type: 'read', webhook: { ...this.hook, ...more }, latest, rechecks });
  }

  /** Ends the transaction. It claims `count` deliveries, as far as the request allows. */
  served(count = 0, more: Partial<rules.Served> & { position?: number; failing_since?: number } = {}): this {
    const request = this.request!;
    const { position = this.state.webhook.position, failing_since = null } = more;
    const one = { delivery, webhook, scopes: new Set<Scope>() };
    const claimed = Array.from({ length: Math.min(count, request.limit) }, () => one);
    const served = {
      webhook: { ...webhook, position, failing_since },
      isFull: false,
      claimed,
      disabled: undefined,
      turn: undefined,
    };
    return this.step({ type: 'served', request, served: { ...served, ...more } });
  }

  attempted(status: number): this {
    this.free++;
    this.sent.pop();
    return this.step({ type: 'attempted', ended: ended(status) });
  }
}

const due = { due_at: NOW };

describe('a lane', () => {
  it('takes connections, claims deliveries for them, and frees the others', () => {
    const lane = new TestLane(20).read(due);
    assert.deepEqual([lane.request!.limit, lane.free], [8, 12]);
    lane.served(3);
    assert.deepEqual([lane.sent.length, lane.free, lane.request], [3, 17, undefined]);
  });

  it('does nothing before something is due', () => {
    assert.equal(new TestLane(20).read({ due_at: NOW + 1 }).request, undefined);
    assert.equal(new TestLane(20).read().request, undefined);
  });

  it('waits in the queue without a connection, and claims one delivery for each that it gets', () => {
    const lane = new TestLane(0).read(due);
    assert.deepEqual([lane.request, lane.waits], [undefined, true]);
    lane.step({ type: 'connected' });
    assert.deepEqual([lane.request!.limit, lane.waits], [1, false]);
    assert.equal(lane.served(1).waits, true);
    lane.read(due).step({ type: 'stopped' });
    assert.equal(lane.waits, false);
    lane.step({ type: 'connected' });
    assert.deepEqual([lane.request, lane.free], [undefined, 1]);
  });

  it('keeps its place in the queue during a transaction, until it can use a connection or has nothing to claim', () => {
    const lane = new TestLane(0).read(due, 7);
    assert.deepEqual([lane.request!.limit, lane.waits, rules.canSend(lane.state)], [0, true, false]);
    assert.equal(lane.read(due, 8).waits, true);
    lane.served(0, { position: 8 });
    assert.deepEqual([lane.waits, rules.canSend(lane.state)], [true, true]);
    lane.step({ type: 'connected' }).served(0);
    assert.deepEqual([lane.waits, lane.free], [false, 1]);
  });

  it('stores an outcome at once, and those of the meantime with the next transaction, at most 64', () => {
    const lane = new TestLane(100).read(due).served(8);
    for (let i = 0; i < 8; i++) lane.attempted(200);
    assert.deepEqual([lane.request!.ended.length, lane.state.ended.length], [1, 7]);
    lane.served();
    assert.equal(lane.request!.ended.length, 7);
    lane.state.ended.push(...Array.from({ length: 70 }, () => ended(200)));
    lane.served();
    assert.deepEqual([lane.request!.ended.length, lane.state.ended.length], [64, 6]);
  });

  it('claims again while more are due, and after each outcome, because the next of a subject may be due', () => {
    const lane = new TestLane(100).read(due).served(8);
    assert.equal(lane.request, undefined, 'its pace is exhausted');
    lane.attempted(200);
    assert.equal(lane.request!.connections, 2);
    lane.served(1);
    assert.equal(lane.request, undefined, 'fewer than requested were due');
  });

  it('sends more at once to a quick endpoint, up to 64, and fewer to one that is slow or fails', () => {
    const pace = (from: number, ...steps: [status: number, duration: number][]) =>
      steps.reduce((now, [status, duration]) => {
        const error = status < 300 ? null : `Status ${status}`;
        const result = error === null ? 'delivered' : 'rejected';
        return rules.paceAfter(now, { result, error, duration });
      }, from);
    assert.equal(pace(8, [200, 10], [200, 249]), 10);
    assert.equal(pace(64, [200, 10]), 64);
    assert.equal(pace(10, [200, 250], [200, 999]), 10);
    assert.equal(pace(10, [200, 1_000], [204, 2_000], [204, 2_000]), 8);
    assert.equal(pace(3, [200, 5_000]), 3);
    assert.equal(pace(33, [500, 10]), 16);
    assert.equal(pace(3, [500, 10], [500, 10]), 2);
    const withheld = { result: 'withheld', error: 'Not sent', duration: 0 } as const;
    assert.equal(rules.paceAfter(8, withheld), 8, 'the endpoint got no request');
    const failing = new TestLane(100).read({ ...due, failing_since: NOW - 1 });
    assert.equal(failing.request!.limit, 2);
    const starting = new TestLane(100).read(due).served(8, { failing_since: NOW });
    assert.deepEqual([starting.sent.length, starting.free], [2, 98]);
  });

  it('claims as many deliveries at once as its pace, by all replicas, two while it fails, and one by each in any case', () => {
    const request = { ended: [], plans: false, connections: 12, limit: 12, most: 10, own: 1 };
    assert.equal(rules.claimable(webhook, request, 4), 6);
    assert.equal(rules.claimable(webhook, { ...request, limit: 3 }, 4), 3);
    assert.equal(rules.claimable(webhook, request, 20), 0);
    assert.equal(rules.claimable(webhook, { ...request, own: 0 }, 20), 1);
    const failing = { ...webhook, failing_since: NOW - 1 };
    assert.equal(rules.claimable(failing, request, 1), 1);
    assert.equal(rules.claimable(failing, request, 2), 0);
  });

  it('claims ahead for a quick endpoint, and sends that as connections become free, within a second', () => {
    const lane = new TestLane(2).read(due);
    assert.deepEqual([lane.request!.limit, lane.request!.connections], [2, 2]);
    lane.served(2).attempted(200);
    const { limit, connections, most } = lane.request!;
    assert.deepEqual([limit, connections, most], [10, 1, 18]);
    lane.served(10);
    assert.deepEqual([lane.sent.length, lane.state.claimed.length, lane.request], [2, 9, undefined]);
    lane.attempted(200);
    assert.deepEqual([lane.sent.length, lane.state.claimed.length, lane.request!.own], [2, 8, 10]);
    lane.now += SECOND + 1;
    lane.attempted(200);
    assert.deepEqual([lane.sent.length, lane.state.claimed.length], [1, 0], 'the others are returned');
    lane.served().attempted(500);
    assert.equal(lane.request!.ended.filter(({ attempted }) => !attempted).length, 8);
    const failing = new TestLane(9);
    failing.state.pace = 20;
    assert.equal(failing.read({ ...due, failing_since: NOW }).request!.limit, 2);
    const starved = new TestLane(0);
    starved.state.pace = 20;
    assert.equal(starved.read(due).request, undefined, 'another replica can send them');
  });

  it('plans while the log has later events, and claims what it planned', () => {
    const lane = new TestLane(20).read({}, 7);
    assert.deepEqual([lane.request!.plans, lane.request!.limit], [true, 8]);
    lane.served(8, { position: 6 });
    assert.equal(lane.request!.plans, true);
    lane.served(0, { position: 7 });
    assert.equal(lane.request, undefined);
  });

  it('does not plan again when the window is full, until 100 deliveries have ended or it is asked to look again', () => {
    const lane = new TestLane(20).read({}, 7).served(1, { isFull: true });
    assert.equal(lane.read({}, 8).request, undefined);
    assert.equal(lane.read({}, 8, true).request!.plans, true);
    lane.served(8, { isFull: true });
    for (let i = 0; i < 100; i++) {
      lane.attempted(200);
      assert.equal(lane.request!.plans, i === 99, `${i + 1} have ended`);
      if (i < 99) lane.served(8);
    }
  });

  it('that was stopped stores the outcomes of its attempts, and returns what it claims in the meantime', () => {
    const lane = new TestLane(20).read(due).served(2).attempted(500).step({ type: 'stopped' });
    lane.served(1);
    const [returned] = lane.request!.ended;
    assert.deepEqual([returned!.attempted, lane.request!.limit, lane.sent.length], [undefined, 0, 1]);
    lane.served().attempted(200);
    assert.deepEqual([lane.request!.ended.length, lane.request!.limit], [1, 0]);
    assert.equal(rules.isIdle(lane.served().state), true);
    assert.equal(lane.free, 20);
    // The failure has halved the pace.
    assert.equal(lane.read(due).request!.limit, 5);
  });

  it('whose webhook is disabled or has another URL stops', () => {
    const lane = new TestLane(20).read(due, 9).served(0, { webhook: undefined });
    assert.deepEqual([lane.request, lane.free, lane.waits], [undefined, 20, false]);
  });

  it('does nothing after a failed transaction until the webhook is read again', () => {
    const lane = new TestLane(20).read(due, 9);
    lane.step({ type: 'served', request: lane.request!, served: undefined });
    assert.deepEqual([lane.request, lane.free], [undefined, 20]);
    assert.equal(lane.read(due, 9).request!.limit, 8);
  });

  it('claims deliveries whose lease or next attempt a clock that ran ahead has set', () => {
    for (const [more, isDue] of [
      [{ leased_until: NOW + 2 * MINUTE }, false],
      [{ leased_until: NOW + 2 * MINUTE + 1 }, true],
      [{ last_due_at: NOW + 1.2 * DAY + MINUTE }, false],
      [{ last_due_at: NOW + 1.2 * DAY + MINUTE + 1 }, true],
    ] as const)
      assert.equal(new TestLane(20).read(more).request !== undefined, isDue, JSON.stringify(more));
  });

  it('loses no connection, whatever happens', () => {
    const step = fc.oneof(
      fc
        .nat({ max: 9 })
        .map(latest => (lane: TestLane) => lane.read(latest % 2 ? due : {}, latest, latest > 7)),
      fc.constant((lane: TestLane) => lane.step({ type: 'stopped' })),
      fc.constant((lane: TestLane) => {
        if (!lane.waits || lane.free === 0) return;
        lane.free--;
        lane.step({ type: 'connected' });
      }),
      fc.nat({ max: 64 }).map(count => (lane: TestLane) => lane.request && lane.served(count)),
      fc
        .constantFrom(200, 500)
        .map(status => (lane: TestLane) => lane.sent.length > 0 && lane.attempted(status)),
    );
    fc.assert(
      fc.property(fc.nat({ max: 70 }), fc.array(step, { maxLength: 80 }), (free, steps) => {
        const lane = new TestLane(free);
        for (const take of steps) {
          take(lane);
          assert.equal(lane.state.sending, lane.sent.length);
          assert.equal(lane.free + lane.sent.length + (lane.request?.connections ?? 0), free);
          assert.equal(lane.request !== undefined, lane.state.isBusy);
        }
      }),
    );
  });
});
