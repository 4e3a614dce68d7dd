import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Span } from '../kit/tracing.ts';
import { DatabaseUnavailable, type Queries, type Transaction, type Writer } from './database.ts';
import { tracedStore } from './traced-store.ts';

/** The name of a span that has ended, with which error, and the outcome of a transaction if it has one. */
type Ended = [name: string, errorType: string | undefined, outcome?: unknown];

function aSpan(ended: Ended[], name = 'request'): Span {
  const outcome: [unknown?] = [];
  return {
    context: {} as Span['context'],
    isRecorded: true,
    child: name => aSpan(ended, name),
    rename: () => {},
    set: attributes => void outcome.push(attributes['petstore.transaction.outcome']),
    end: errorType => void ended.push([name, errorType, ...outcome]),
  };
}

type Work = (tx: Transaction) => Promise<unknown>;

/** The spans of a write in a store that runs its work like this. */
async function spansOf(write: (work: Work) => Promise<unknown>): Promise<Ended[]> {
  const ended: Ended[] = [];
  const store = tracedStore({ write } as Queries & Writer, aSpan(ended));
  await store.write(async () => {}).catch(() => {});
  return ended;
}

describe('the spans of a write', () => {
  const tx = {} as Transaction;

  it('show a commit that conflicts, and the one after it', async () => {
    const twice = async (work: Work) => {
      await work(tx);
      await work(tx);
    };
    assert.deepEqual(await spansOf(twice), [
      ['commit wait', 'conflict'],
      ['commit wait', undefined],
      ['transaction', undefined],
    ]);
  });

  for (const [title, error, errorType] of [
    ['have the error if the store fails', new DatabaseUnavailable(undefined), 'DatabaseUnavailable'],
    ['have no error if the write is rejected', new Error('The name is taken'), undefined],
  ] as const)
    it(title, async () => {
      const failing = async (work: Work) => {
        await work(tx);
        throw error;
      };
      assert.deepEqual(await spansOf(failing), [
        ['commit wait', errorType],
        ['transaction', errorType, 'rolled back'],
      ]);
    });
});

it('a traced store passes the plan of a read on', async () => {
  const reads: unknown[][] = [];
  const all = async (...read: unknown[]) => void reads.push(read);
  const store = tracedStore({ engine: 'postgres', all } as unknown as Queries & Writer, aSpan([]));
  await store.all('SELECT 1', [2], 'index order');
  assert.deepEqual(reads, [['SELECT 1', [2], 'index order']]);
});
