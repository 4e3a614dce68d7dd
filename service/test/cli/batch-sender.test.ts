import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { HOUR } from '../../src/kit/clock.ts';
import { PackedCommand } from '../support/packed-command.ts';

type Module = typeof import('../../../cli/src/import/batch-sender.ts');
type Parameters = ConstructorParameters<Module['BatchSender']>;
type State = Partial<Parameters[1]['state']>;

const petstore = new PackedCommand({ HOME: '/nonexistent' });
const { BatchSender } = await petstore.load<Module>('import/batch-sender.js');

const batch = {
  rows: 3,
  lines: [2, 4] as const,
  operations: [],
  pets: [0, 1, 2],
  rejections: [],
  existing: 0,
};

/**
 * A sender in the time of the test. For each batch its client sends requests with the given statuses, in turn, and `before` runs
 * before each one. 0 is a connection that breaks. It rejects unless the last status is 200.
 */
function senderOf(t: TestContext, statuses: number[], before: (request: number) => void = () => {}) {
  let now = 0;
  const saved: State[] = [];
  const keys: unknown[] = [];
  let requests = 0;
  t.mock.method(globalThis, 'fetch', async (_: string, { signal }: RequestInit) => {
    signal?.throwIfAborted();
    const status = statuses[requests++]!;
    if (status === 0) throw new TypeError('fetch failed');
    return new Response('{}', { status });
  });
  const connect: Parameters[0] = ({ fetch }) => {
    const create = async (
      _: unknown,
      { signal, idempotencyKey }: { signal: AbortSignal; idempotencyKey: string },
    ) => {
      keys.push(idempotencyKey);
      for (let i = 1; i <= statuses.length; i++) {
        before(i);
        const response = await fetch('http://petstore.example/batch', { signal }).catch(error => {
          if (signal.aborted) throw signal.reason;
          return error;
        });
        if (response.status === 200) return { results: [] };
      }
      throw new Error('gave up');
    };
    return { batches: { create } } as unknown as ReturnType<Parameters[0]>;
  };
  const journal = { save: (changes: State) => void saved.push(changes) } as unknown as Parameters[1];
  const sender = new BatchSender(connect, journal, {}, () => now);
  return {
    ...{ sender, saved, keys },
    requests: () => requests,
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

const sentAt = (time: number) => new Date(time).toISOString();

describe('the journal of an import', () => {
  it('has a batch before it is sent, with the time of the first request that may have been executed', async t => {
    const { sender, saved, keys, advance } = senderOf(t, [429, 503, 200], () => advance(HOUR));
    await sender.send(batch);
    assert.deepEqual(
      saved.map(({ sent }) => [sent?.sentAt, sent?.idempotencyKey]),
      [
        [sentAt(HOUR), keys[0]],
        [sentAt(2 * HOUR), keys[0]],
      ],
    );
  });

  for (const [what, statuses, isInDoubt] of [
    ['was rejected each time', [429, 422, 400], false],
    ['may have been executed before a 503', [429, 503], true],
    ['may have been executed before its connection broke', [0], true],
    ['may have been executed before a rejection', [503, 429], true],
  ] as const) {
    it(`${isInDoubt ? 'keeps' : 'does not keep'} a batch that ${what}`, async t => {
      const { sender, saved } = senderOf(t, [...statuses]);
      await assert.rejects(sender.send(batch), /gave up/);
      assert.equal(saved.at(-1)!.sent !== null, isInDoubt);
    });
  }
});

describe('a batch in doubt', () => {
  const sent = { ...batch, idempotencyKey: 'key', sentAt: sentAt(0) };

  it('is sent again with its key and its time', async t => {
    const { sender, saved, keys } = senderOf(t, [200]);
    await sender.sendAgain(sent);
    assert.deepEqual([keys, saved], [['key'], []]);
  });

  it('is not sent again after 23 hours, also by a process that has waited for so long', async t => {
    const { sender, requests, advance } = senderOf(t, [503, 200], request => request === 2 && advance(1));
    assert.equal(sender.isExpired(sent), false);
    advance(23 * HOUR);
    assert.equal(sender.isExpired(sent), false);
    await assert.rejects(
      sender.sendAgain(sent),
      /The rows on lines 2 to 4 were sent at 1970-01-01T00:00:00.000Z/,
    );
    assert.deepEqual([sender.isExpired(sent), requests()], [true, 1]);
  });
});
