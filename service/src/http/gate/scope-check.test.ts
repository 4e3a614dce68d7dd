import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rejectCostOfVisits } from './scope-check.ts';

describe('an operation with a cost', () => {
  const batch = { method: 'POST', path: '/batch' } as const;
  const cost = () => 2;

  it('is rejected at start if publishable keys could call it', () => {
    for (const scope of [null, 'pets:read', ['pets:read', 'inventory:read']] as const) {
      assert.throws(
        () => rejectCostOfVisits({ ...batch, scope, cost }),
        /^Error: POST \/batch has a cost, so it needs a scope that no publishable key has$/,
      );
      rejectCostOfVisits({ ...batch, scope });
    }
    for (const scope of ['any', 'pets:write', ['pets:read', 'orders:read'], 'admin'] as const)
      rejectCostOfVisits({ ...batch, scope, cost });
  });
});
