import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { labelReader, type Reference, withSomeIds } from './labels.ts';

const id = { type: 'integer', format: 'int64' } as const;
const schema = { type: 'object', properties: { name: { type: 'string' }, petId: id } } as const;

describe('references to labels', () => {
  it('are found in fields with IDs only, and only as an object with nothing but `$id`', () => {
    const find = (body: object) => {
      const found: Reference[] = [];
      labelReader(schema)(body, found);
      return found;
    };
    assert.deepEqual(find({ petId: { $id: 'rex' } }), [{ in: 'body', name: 'petId', label: 'rex' }]);
    for (const body of [{ name: { $id: 'rex' } }, { petId: { $id: 'rex', x: 1 } }, { petId: { $id: 1 } }, {}])
      assert.deepEqual(find(body), []);
  });

  it('are IDs during the checks, and references again afterwards, because a batch may be read twice', () => {
    const body = { petId: { $id: 'rex' }, name: 'Rex' };
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
    assert.deepEqual(body, { petId: { $id: 'rex' }, name: 'Rex' });
  });
});
