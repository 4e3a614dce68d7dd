import assert from 'node:assert/strict';
import { it } from 'node:test';
import { lists } from '../../../bench/stores/list-targets.ts';

it('the measurements of lists have values for every filter of the contract', () => {
  assert.ok(lists().every(({ queries }) => queries.length > 0));
});
