import assert from 'node:assert/strict';
import { it } from 'node:test';
import { kept } from './kept.ts';

it('a kept value is made at the first call, and again only after a failure', async () => {
  const made: string[] = [];
  const value = kept(async (name: string) => {
    made.push(name);
    if (made.length === 1) throw new Error('planted');
    return { name };
  });
  const failing = [value('first'), value('second')];
  for (const call of failing) await assert.rejects(call, /^Error: planted$/);
  const third = await value('third');
  assert.equal(await value('fourth'), third);
  assert.deepEqual(made, ['first', 'third']);
});
