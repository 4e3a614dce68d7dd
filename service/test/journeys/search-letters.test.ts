import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { aCategory, aPet } from '../support/factories.ts';
import { startTestApp } from '../support/test-app.ts';

/** Letters of the Deseret alphabet. Each is one code point and two UTF-16 code units. */
const NAME = '\u{1042e}\u{10430}\u{10433}\u{10435}\u{10438}\u{1043a}';

describe('a search for a name in letters outside of the first Unicode plane', () => {
  it('counts a missing letter as one error', async t => {
    const { api } = await startTestApp(t);
    const id = await aPet(api, { name: NAME, categoryId: await aCategory(api) });
    const letters = Array.from(NAME);
    for (const [i] of letters.entries()) {
      const q = letters.toSpliced(i, 1).join('');
      const { body } = await api.get(`/pets?q=${encodeURIComponent(q)}`);
      assert.deepEqual(
        body.map((pet: { id: number }) => pet.id),
        [id],
        `without letter ${i + 1}`,
      );
    }
  });
});
