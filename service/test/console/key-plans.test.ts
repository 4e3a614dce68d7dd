import assert from 'node:assert/strict';
import { it } from 'node:test';
import { planLimits as shown } from '../../../web/console/src/data/keys.ts';
import { planLimits } from '../../src/access/plans/plan.ts';

it('The console shows the limits that plans have', () => {
  assert.deepEqual(shown, planLimits);
});
