import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HistoryEntry } from '@petstore/client';
import { type Activity, activitiesOf, actorOf, sentenceOf } from './activity.ts';

function entry(type: string, subject: string, more: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    eventId: '1',
    time: '2026-11-21T12:00:00.000Z',
    type,
    subject,
    name: 'Neon tetra',
    actor: 'keys/2',
    actorName: 'Anna',
    requestId: 'one',
    reason: null,
    note: null,
    changes: [],
    ...more,
  };
}

/** The sentence in a shop whose only category is Fish. */
const inWords = (activity: Activity) => sentenceOf(activity, id => (id === 3 ? 'Fish' : undefined));

const units = (from: number, to: number) => [{ field: 'quantity', from, to }];
const stock = (from: number, to: number, more: Partial<HistoryEntry> = {}) =>
  entry('inventory.updated', 'store/inventory/4', { changes: units(from, to), ...more });
const ordered = { changes: [{ field: 'quantity', to: 2 }] };
const changed = (field: string, from: unknown, to: unknown, type = 'pet.updated', subject = 'pets/4') =>
  entry(type, subject, { changes: [{ field, from, to }] });
/** Fields of a new thing. */
const fieldsOf = (values: Record<string, unknown>) =>
  Object.entries(values).map(([field, to]) => ({ field, to }));
const refused = (operation: string, attempts = 1, address: string | null = null) =>
  entry('access.refused', 'access', { changes: fieldsOf({ operation, attempts, address }) });

const cases: [entries: HistoryEntry[], sentences: string[]][] = [
  [
    [
      entry('order.completed', 'store/orders/7'),
      entry('order.placed', 'store/orders/7', ordered),
      stock(26, 24),
    ],
    ['sold 2 of Neon tetra, 26 → 24'],
  ],
  [
    [entry('order.placed', 'store/orders/7', ordered), stock(3, 1)],
    ['placed order 7 for 2 of Neon tetra, 3 → 1'],
  ],
  [[entry('order.placed', 'store/orders/7', { name: null })], ['made draft order 7']],
  [
    [changed('complete', false, true, 'order.completed', 'store/orders/7')],
    ['completed order 7 of Neon tetra'],
  ],
  [
    [entry('order.cancelled', 'store/orders/7', { changes: [{ field: 'quantity', from: 2 }] }), stock(1, 3)],
    ['cancelled order 7 (2 of Neon tetra), 1 → 3'],
  ],
  [[stock(2, 7, { reason: 'received' })], ['received 5 of Neon tetra, 2 → 7']],
  [[stock(7, 6, { reason: 'counted' })], ['counted the stock of Neon tetra, 7 → 6']],
  [[stock(7, 0), entry('pet.updated', 'pets/4')], ['changed the stock of Neon tetra, 7 → 0']],
  [
    [stock(3, 2, { requestId: 'two' }), stock(4, 3)],
    ['changed the stock of Neon tetra, 3 → 2', 'changed the stock of Neon tetra, 4 → 3'],
  ],
  [
    [stock(3, 2), stock(4, 3, { subject: 'store/inventory/5' })],
    ['changed the stock of Neon tetra, 3 → 2', 'changed the stock of Neon tetra, 4 → 3'],
  ],
  [[changed('name', 'Neon', 'Neon tetra')], ['renamed Neon to Neon tetra']],
  [[changed('status', 'available', 'pending')], ['put Neon tetra on hold']],
  [
    [refused('POST /keys', 3, '203.0.113.7')],
    ['tried 3 times to create a key and was rejected, from 203.0.113.7'],
  ],
  [[refused('GET /keys/{keyId}')], ['tried to see a key and was rejected']],
  [[refused('DELETE /keys/{keyId}')], ['tried to delete a key and was rejected']],
  [[refused('DELETE /keys/{keyId}/ban')], ['tried to change a key and was rejected']],
  [[refused('DELETE /keys/{keyId}/limits')], ['tried to change a key and was rejected']],
  [[refused('POST /webhooks/{webhookId}/rotate')], ['tried to change a webhook and was rejected']],
  [[changed('name', 'Till', 'Old till', 'key.updated', 'keys/4')], ['renamed the key Till to Old till']],
  [[changed('categoryId', 2, 3)], ['moved Neon tetra to Fish']],
  [
    [
      entry('pet.updated', 'pets/4', {
        changes: [
          { field: 'name', from: 'Neon', to: 'Tetra' },
          ...fieldsOf({ status: 'sold', categoryId: 3 }),
        ],
      }),
    ],
    ['renamed Neon to Tetra, marked it sold and moved it to Fish'],
  ],
  [
    [stock(1, 0), entry('pet.updated', 'pets/4', { changes: fieldsOf({ status: 'sold', categoryId: 3 }) })],
    ['marked Neon tetra sold and moved it to Fish, 1 → 0'],
  ],
  [[changed('categoryId', 3, 2)], ['moved Neon tetra to another category']],
  [[entry('key.banned', 'keys/5', { name: 'Web shop' })], ['banned the key Web shop']],
  [[entry('log.restored', 'events', { requestId: null })], ['restored a backup']],
  [[entry('order.new_kind', 'store/orders/7')], ['changed order 7 of Neon tetra']],
  [[entry('cage.built', 'cages/7')], ['cage.built: cages/7']],
];

describe('an activity', () => {
  for (const [entries, expected] of cases) {
    it(`reads ${expected.join(' and ')}`, () => {
      // No line ends between two numbers, which have the direction of the sentence after any name.
      const sentences = expected.map(sentence => sentence.replaceAll(/(\d+) → /g, '\u200e$1\u00a0→\u00a0'));
      assert.deepEqual(activitiesOf(entries).map(inWords), sentences);
    });
  }

  it('names who did it', () => {
    assert.equal(actorOf(entry('pet.created', 'pets/4'), 9), 'Anna');
    assert.equal(actorOf(entry('pet.created', 'pets/4'), 2), 'You');
    assert.equal(actorOf(entry('pet.created', 'pets/4', { actorName: null }), 9), 'Key 2');
    assert.equal(
      actorOf(entry('log.restored', 'events', { actor: 'system', actorName: null }), 9),
      'The service',
    );
    assert.equal(
      actorOf(entry('access.refused', 'access', { actor: 'system', actorName: null }), 9),
      'Unknown (no valid key)',
    );
    const leak = entry('key.leaked', 'keys/7', { actor: 'system', actorName: null, name: 'Web shop' });
    assert.equal(actorOf(leak, 9), 'Unknown', 'it may have been sent with a valid key');
    const sentences = activitiesOf([leak]).map(inWords);
    assert.deepEqual(sentences, ['reported a secret of the key Web shop as leaked']);
  });

  it('describes what the service warned of', () => {
    const warning = (type: string, values: Record<string, unknown>) =>
      entry(type, 'keys/7', {
        ...{ actor: 'system', actorName: null, name: 'Web shop' },
        changes: fieldsOf(values),
      });
    const warnings = [
      warning('key.quota_reached', { window: 'day', percent: 80, limit: 10_000 }),
      warning('key.quota_reached', { window: 'minute', percent: 100, limit: 60 }),
      warning('key.expiring', { days: 14 }),
      warning('key.expiring', { days: 1 }),
    ];
    assert.deepEqual(
      warnings.map(each => inWords([each])),
      [
        'warned that the key Web shop has used 80 % of its 10,000 requests of the day',
        'warned that the key Web shop used up its 60 requests in 5 of 10 minutes',
        'warned that the key Web shop expires within 14 days',
        'warned that the key Web shop expires within 1 day',
      ],
    );
  });
});
