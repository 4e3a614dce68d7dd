import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addPetWords } from '../../src/catalog/pets/search/pet-words.ts';
import type { Database, Transaction } from '../../src/db/database.ts';
import { engines, openPostgresStore } from '../support/engines.ts';
import { assertNothingLeft, openResources } from '../support/resources.ts';

const ADD = "INSERT INTO categories (name, name_key, description) VALUES (?, ?, '')";

function add(tx: Transaction, name: string): void {
  tx.send(ADD, [name, name]);
}

async function namesIn(db: Database): Promise<string[]> {
  const rows = await db.all<{ name: string }>('SELECT name FROM categories ORDER BY name');
  return rows.map(({ name }) => name);
}

for (const [engine, openStore] of Object.entries(engines)) {
  describe(`a statement whose result is not awaited, on ${engine}`, () => {
    it('is seen by later statements, and committed', async t => {
      const { db } = await openStore(t);
      await db.write(async tx => {
        add(tx, 'a');
        assert.deepEqual(await tx.get('SELECT name FROM categories'), { name: 'a' });
        add(tx, 'b');
      });
      assert.deepEqual(await namesIn(db), ['a', 'b']);
    });

    it('that fails makes the transaction fail', async t => {
      const { db } = await openStore(t);
      await assert.rejects(
        db.write(async tx => {
          add(tx, 'a');
          add(tx, 'a');
        }),
        /unique/i,
      );
      assert.deepEqual(await namesIn(db), []);
    });

    it('is undone with its part, and so are the events of the part', async t => {
      const { db } = await openStore(t);
      await db.write(async tx => {
        add(tx, 'a');
        const part = tx.savepoint(async () => {
          add(tx, 'b');
          tx.append({ type: 'category.created', subject: 'categories/2', actor: 'system', data: '{}' });
          throw new Error('rejected');
        });
        await assert.rejects(part, /rejected/);
        await tx.savepoint(async () => add(tx, 'c'));
      });
      await db.numberEvents();
      assert.deepEqual([await namesIn(db), await db.all('SELECT id FROM events')], [['a', 'c'], []]);
    });
  });

  describe(`new words, on ${engine}`, () => {
    it('of several pets of a transaction are stored with their variants', async t => {
      const { db } = await openStore(t);
      await db.write(async tx => {
        await addPetWords(tx, [{ id: 1, name: 'old ruby rose' }]);
        await addPetWords(tx, [{ id: 2, name: 'old rose' }]);
      });
      assert.deepEqual(await db.all('SELECT word FROM words ORDER BY word'), [
        { word: 'rose' },
        { word: 'ruby' },
      ]);
      const variants = await db.all('SELECT variant FROM word_variants WHERE word = ? ORDER BY variant', [
        'ruby',
      ]);
      assert.deepEqual(
        variants,
        ['rby', 'rub', 'ruby', 'ruy', 'uby'].map(variant => ({ variant })),
      );
    });

    it('of more pets than are added at a time are all stored', async t => {
      const { db } = await openStore(t);
      const letters = [...'abcdefghijklmno'];
      const words = letters.flatMap(first => letters.map(second => `zz${first}${second}`));
      await db.write(async tx => {
        for (const [i, word] of words.entries()) await addPetWords(tx, [{ id: i, name: `pet ${word}` }]);
      });
      assert.deepEqual(
        await db.all('SELECT word FROM words ORDER BY word'),
        words.map(word => ({ word })),
      );
    });
  });
}

/** Creates a function that fails with a SQLSTATE. */
const FAIL = `CREATE FUNCTION fail(code text) RETURNS void LANGUAGE plpgsql AS
  $$ BEGIN RAISE EXCEPTION 'planned' USING ERRCODE = code; END $$`;

describe('a statement whose result is not awaited and that fails, on PostgreSQL,', () => {
  const ends: Record<string, (tx: Transaction) => Promise<unknown>> = {
    'the commit': async () => {},
    'a later statement': tx => tx.get('SELECT 1'),
  };
  for (const [end, finish] of Object.entries(ends)) {
    it(`because of a deadlock makes the transaction run again, although ${end} fails with it`, async t => {
      const { db } = await openPostgresStore(t);
      await db.run(FAIL);
      let attempts = 0;
      await db.write(async tx => {
        if (++attempts === 1) tx.send('SELECT fail(?)', ['40P01']);
        add(tx, `attempt ${attempts}`);
        await finish(tx);
      });
      assert.equal(attempts, 2);
      assert.deepEqual(await namesIn(db), ['attempt 2']);
    });

    it(`is reported as itself, although ${end} fails with it`, async t => {
      const { db } = await openPostgresStore(t);
      await db.run(FAIL);
      const failing = db.write(async tx => {
        tx.send('SELECT fail(?)', ['22012']);
        await finish(tx);
      });
      await assert.rejects(failing, { code: '22012' });
      await assert.rejects(
        db.write(async tx => {
          tx.send('SELECT fail(?)', ['53100']);
          await finish(tx);
        }),
        { what: 'full' },
      );
    });
  }

  it('leaves no timer, which would cancel a later statement of the connection', async t => {
    const resources = openResources();
    const { db } = await openPostgresStore(t);
    const failing = db.write(async tx => tx.send('SELECT 1 / ?', [0]));
    await assert.rejects(failing, { code: '22012' });
    await db.close();
    await assertNothingLeft(resources);
  });

  it('in a part that is undone does not fail the transaction', async t => {
    const { db } = await openPostgresStore(t);
    await db.run(FAIL);
    await db.write(async tx => {
      const part = tx.savepoint(async () => {
        tx.send('SELECT fail(?)', ['22012']);
        throw new Error('rejected');
      });
      await assert.rejects(part, /rejected/);
      add(tx, 'a');
    });
    assert.deepEqual(await namesIn(db), ['a']);
  });
});

it('a sent statement that fails, on PostgreSQL, in a part that has ended, fails the transaction even if a later part is undone', async t => {
  const { db } = await openPostgresStore(t);
  await db.run(FAIL);
  const written = db.write(
    async tx => {
      add(tx, 'a');
      await tx.savepoint(async () => tx.send('SELECT fail(?)', ['22012']));
      await assert.rejects(tx.savepoint(() => tx.get('SELECT 1')));
      add(tx, 'b');
    },
    { alone: true },
  );
  await assert.rejects(written, { code: '22012' });
  assert.deepEqual(await namesIn(db), []);
});

it('two transactions with the same new words, on PostgreSQL, in opposite order do not deadlock', async t => {
  const { db } = await openPostgresStore(t, { writeBatch: 1 });
  const { promise: met, resolve: meet } = Promise.withResolvers<void>();
  let attempts = 0;
  const store = (id: number, words: readonly string[]) =>
    db.write(async tx => {
      attempts++;
      await addPetWords(tx, [{ id, name: `pet ${words[0]}` }]);
      if (attempts === 2) meet();
      await met;
      await addPetWords(tx, [{ id: id + 1, name: `pet ${words[1]}` }]);
    });
  await Promise.all([store(1, ['alpha', 'bravo']), store(3, ['bravo', 'alpha'])]);
  assert.equal(attempts, 2, 'no transaction ran again');
  assert.deepEqual(await db.all('SELECT word FROM words ORDER BY word'), [
    { word: 'alpha' },
    { word: 'bravo' },
  ]);
});
