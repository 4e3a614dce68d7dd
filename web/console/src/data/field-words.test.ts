import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldInWords, valueInWords } from './field-words.ts';

describe('a field of a change', () => {
  it('has the name that forms have, and others their own in words', () => {
    assert.deepEqual(['categoryId', 'shipDate', 'perMinute'].map(fieldInWords), [
      'category',
      'ships',
      'per minute',
    ]);
  });

  it('has values as people read them', () => {
    const values: [field: string, value: unknown, shown: string][] = [
      ['status', 'pending', 'On hold'],
      ['complete', true, 'Yes'],
      ['note', null, '–'],
      ['scopes', [], '–'],
      ['types', ['order.*', 'pet.created'], 'order.*, pet.created'],
      ['quotas', { perMinute: 5, perDay: 100 }, 'per minute: 5, per day: 100'],
      ['shipDate', '2026-03-01T12:00:00Z', new Date('2026-03-01T12:00:00Z').toLocaleString()],
      ['quantity', 0, '0'],
    ];
    for (const [field, value, shown] of values) assert.equal(valueInWords(field, value), shown);
  });
});
