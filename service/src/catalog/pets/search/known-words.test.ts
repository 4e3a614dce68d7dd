import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openEmbedded } from '../../../../test/support/embedded-store.ts';
import type { Queries } from '../../../db/database.ts';
import { KnownWords } from './known-words.ts';
import { addPetWords } from './pet-words.ts';

it('known words are forgotten together before they are more than 20,000', async () => {
  const found = (words: readonly string[]) => words.filter(word => word !== '').map(word => ({ word }));
  const db = { all: async (_: string, words: string[]) => found(words) } as unknown as Queries;
  const known = new KnownWords();
  const learn = async (words: readonly string[]) => {
    for (const word of words) known.has(word);
    while (await known.confirm(db));
  };
  await learn(Array.from({ length: 20_000 }, (_, i) => `word ${i}`));
  assert.equal(known.has('word 0'), true);
  await learn(['last']);
  assert.deepEqual([known.has('last'), known.has('word 0')], [true, false]);
});

it('known words are those of the committed dictionary, and not those of a transaction that is rolled back', async t => {
  const db = openEmbedded(t);
  const known = new KnownWords();
  const learn = (name: string) => db.write(tx => addPetWords(tx, [{ id: 1, name }], known));
  await assert.rejects(
    db.write(async tx => {
      await addPetWords(tx, [{ id: 1, name: 'shadow' }], known);
      await known.confirm(db);
      throw new Error('rejected');
    }),
  );
  assert.equal(known.has('shadow'), false);
  await learn('shadow');
  while (await known.confirm(db));
  assert.equal(known.has('shadow'), true);
  assert.deepEqual(await db.all("SELECT word FROM words WHERE word = 'shadow'"), [{ word: 'shadow' }]);
});

it('known words that are read while they are forgotten stay forgotten', async () => {
  const known = new KnownWords();
  const all = async () => {
    known.forget();
    return [{ word: 'lost' }];
  };
  known.has('lost');
  await known.confirm({ all } as unknown as Queries);
  assert.equal(known.has('lost'), false);
});
