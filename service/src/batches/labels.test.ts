import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Reference, withSomeIds } from './labels.ts';

it('references to labels are IDs during the checks, and references again afterwards, because a batch may be read twice', () => {
  const body = { petId: { $label: 'rex' }, name: 'Rex' };
  const references: Reference[] = [{ in: 'body', name: 'petId', label: 'rex' }];
  assert.equal(
    withSomeIds(body, references, () => JSON.stringify(body)),
    '{"petId":1,"name":"Rex"}',
  );
  const fault = new Error('fault');
  assert.throws(
    () =>
      withSomeIds(body, references, () => {
        throw fault;
      }),
    fault,
  );
  assert.deepEqual(body, { petId: { $label: 'rex' }, name: 'Rex' });
});
