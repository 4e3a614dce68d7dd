import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import * as pets from '../../src/catalog/pets/pets.ts';
import { SearchIndex } from '../../src/catalog/pets/search/search-index.ts';
import { searchPets } from '../../src/catalog/pets/search/search-pets.ts';
import type { Database, Engine, Transaction, Value } from '../../src/db/database.ts';
import { insertRows } from '../../src/db/insert-rows.ts';
import { WrappedTransaction } from '../../src/db/wrapped-store.ts';
import { storedWords as storedWordsOf } from '../../src/kit/words.ts';
import { engines, type OpenStore } from '../support/engines.ts';
import { holdLocks } from '../support/hold-writes.ts';
import { storePets } from '../support/stored-pets.ts';

const WORDS = 50;

/** The most pages that a long write changes for words, and then each of the transactions that store the rest. */
const MOST_PAGES: Record<Engine, number> = { sqlite: 1_000, postgres: 5_000 };

/** The most pages in a turn of the event loop, except for those of one name. */
const MOST_IN_TURN = 200;

/** Two letters; no two of the words of a name are the same. */
function wordOf(i: number): string {
  return String.fromCharCode(97 + (i % 26)) + String.fromCharCode(97 + (Math.floor(i / 26) % 26));
}

/** A name of 50 short words, each of which other names have as well. */
function nameOf(pet: number): string {
  return `${pet} ${Array.from({ length: WORDS }, (_, i) => wordOf(pet + i)).join(' ')}`;
}

interface Shop {
  db: Database;
  index: SearchIndex;
  /** So many that several transactions store their words. */
  pets: number;
  /** The number of names whose words, and of words that, each turn of the event loop stored or removed after the commit. */
  turns: { names: number; words: number }[];
  /** The number of stored words before the first transaction after the commit of the long write, and after each. */
  stored: number[];
  late: unknown[];
  /** The time that has passed for the index, in milliseconds: it stops after ten seconds. */
  passed: number;
  /** Called before each of these transactions. */
  beforeEach: () => void | Promise<void>;
}

function loseConnection(): never {
  throw new Error('no connection');
}

/** Counts what each turn of the event loop changes in the index. */
class CountedTransaction extends WrappedTransaction {
  readonly #turns: Shop['turns'];
  #isNewTurn = true;

  constructor(tx: Transaction, turns: Shop['turns']) {
    super(tx);
    this.#turns = turns;
  }

  override insertLater(into: string, rows: readonly (readonly Value[])[]): void {
    this.#count(rows.length);
    super.insertLater(into, rows);
  }

  override send(sql: string, values: readonly Value[]): void {
    if (sql.startsWith('DELETE FROM pet_words')) this.#count(new Set(values).size - 2);
    super.send(sql, values);
  }

  #count(words: number): void {
    if (this.#isNewTurn) {
      this.#turns.push({ names: 0, words: 0 });
      this.#isNewTurn = false;
      setImmediate(() => {
        this.#isNewTurn = true;
      });
    }
    const turn = this.#turns.at(-1)!;
    turn.names++;
    turn.words += words;
  }
}

async function aShop(t: TestContext, openStore: (t: TestContext) => Promise<OpenStore>): Promise<Shop> {
  const { db } = await openStore(t);
  await db.run("INSERT INTO categories (id, name, name_key) VALUES (1, 'Dogs', 'dogs')");
  const pets = (2 * MOST_PAGES[db.engine]) / WORDS + 20;
  const shop: Shop = {
    db,
    pets,
    turns: [],
    index: undefined as never,
    stored: [],
    late: [],
    passed: 0,
    beforeEach: () => {},
  };
  t.mock.method(performance, 'now', () => shop.passed);
  const write: Database['write'] = async (work, options) => {
    if (shop.stored.length === 0) shop.stored.push(await storedWords(db));
    await shop.beforeEach();
    const result = await db.write(tx => work(new CountedTransaction(tx, shop.turns)), options);
    shop.stored.push(await storedWords(db));
    return result;
  };
  const get: Database['get'] = (...query) => db.get(...query);
  const all: Database['all'] = (...query) => db.all(...query);
  shop.index = new SearchIndex({
    db: { engine: db.engine, get, all, write, onNotice: () => {} },
    onLate: error => shop.late.push(error),
  });
  return shop;
}

/** The number of stored words, of one pet or of all. */
async function storedWords(db: Database, petId?: number): Promise<number> {
  const condition = petId === undefined ? '' : `WHERE pet_id = ${petId}`;
  return (await db.get<{ count: number }>(`SELECT count(*) AS count FROM pet_words ${condition}`))!.count;
}

/** What a long write or an interrupted one has left to the sweep. */
async function leftIn(db: Database): Promise<number> {
  return (await db.get<{ count: number }>('SELECT count(*) AS count FROM pets_to_index'))!.count;
}

async function idsFor(db: Database, q: string): Promise<number[]> {
  return (await searchPets(db, { q, limit: 100 })).items.map(({ id }) => id).sort((a, b) => a - b);
}

function writeLong<T>({ db }: Shop, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.write(work, { alone: true });
}

async function createAll(shop: Shop, tx: Transaction): Promise<number[]> {
  const ids: number[] = [];
  for (let i = 0; i < shop.pets; i++) {
    const pet = await pets.create(tx, { name: nameOf(i), categoryId: 1 }, shop.index);
    ids.push(pet.id);
  }
  return ids;
}

/** The pets whose names have a word, by the definition of the names. */
function idsWith(ids: readonly number[], word: string): number[] {
  return ids.filter((_, i) => nameOf(i).split(' ').includes(word));
}

for (const [engine, openStore] of Object.entries(engines)) {
  describe(`a long write of names with many words, on ${engine}`, () => {
    it('stores some of their words, and the others in small transactions before it resolves, between which others write', async t => {
      const shop = await aShop(t, openStore);
      const { db, stored } = shop;
      let other: Promise<unknown> | undefined;
      let isOtherDone = false;
      shop.beforeEach = async () => {
        // On PostgreSQL the other write has a connection of its own, on which it can take longer.
        if (db.engine === 'postgres') await other;
        const change = db.run("UPDATE categories SET description = 'changed'");
        other ??= change.then(() => {
          isOtherDone = true;
        });
      };
      const ids = await writeLong(shop, tx => createAll(shop, tx));
      assert.ok(isOtherDone);
      await other;
      const [first, ...later] = stored as [number, ...number[]];
      assert.ok(first > 0 && first <= MOST_PAGES[db.engine], `${first} in its own transaction`);
      assert.ok(later.length > 0);
      for (const [i, count] of later.entries()) {
        const added = count - stored[i]!;
        assert.ok(added > 0 && added <= MOST_PAGES[db.engine], `${added} in one transaction`);
      }
      assert.equal(await storedWords(db), shop.pets * WORDS);
      assert.equal(await leftIn(db), 0);
      for (const word of ['aa', 'zb', wordOf(shop.pets + WORDS - 2)])
        assert.deepEqual(await idsFor(db, word), idsWith(ids, word), word);
    });

    it('finds neither the old words of pets that it renames nor those that it deletes', async t => {
      const shop = await aShop(t, openStore);
      const { db, index } = shop;
      const ids = await writeLong(shop, tx => createAll(shop, tx));
      shop.stored.length = 0;
      await writeLong(shop, async tx => {
        for (const [i, id] of ids.entries()) {
          if (i % 2 === 0) await pets.remove(tx, id, () => {}, index);
          else await pets.update(tx, id, pet => ({ ...pet, name: `Rex the ${i}` }), index);
        }
      });
      assert.ok(shop.stored.length > 1, 'some words are left for after the commit');
      assert.equal(await leftIn(db), 0);
      assert.equal(await storedWords(db), shop.pets, 'two words of each renamed pet');
      assert.deepEqual(await idsFor(db, 'bb'), []);
      const found = new Set(await idsFor(db, 'rex the'));
      const renamed = ids.filter((_, i) => i % 2 === 1);
      assert.deepEqual(
        [found.size, found.difference(new Set(renamed)).size],
        [Math.min(renamed.length, 100), 0],
      );
    });

    it('stores the words of the last name of a pet, whatever was left before', async t => {
      const shop = await aShop(t, openStore);
      const { db, index } = shop;
      const [renamed, deleted] = await writeLong(shop, async tx => {
        await createAll(shop, tx);
        const rename = (id: number, name: string) => pets.update(tx, id, pet => ({ ...pet, name }), index);
        const late = await pets.create(tx, { name: nameOf(200), categoryId: 1 }, index);
        await rename(late.id, nameOf(201));
        await rename(late.id, 'Max of Kent');
        const gone = await pets.create(tx, { name: nameOf(300), categoryId: 1 }, index);
        await pets.remove(tx, gone.id, () => {}, index);
        return [late.id, gone.id];
      });
      assert.equal(await leftIn(db), 0);
      assert.equal(await storedWords(db), shop.pets * WORDS + 2);
      assert.deepEqual(await idsFor(db, 'kent'), [renamed]);
      const words = await db.all('SELECT word FROM pet_words WHERE pet_id = ?', [deleted!]);
      assert.deepEqual(words, []);
    });

    it('succeeds when the words cannot be stored after its commit, and the sweep stores them', async t => {
      const shop = await aShop(t, openStore);
      const { db, index } = shop;
      shop.beforeEach = loseConnection;
      const ids = await writeLong(shop, tx => createAll(shop, tx));
      assert.match(String(shop.late), /no connection/);
      assert.ok((await leftIn(db)) > 0);
      shop.beforeEach = () => {};
      shop.stored.length = 0;
      while (await index.sweep());
      assert.equal(await leftIn(db), 0);
      for (const [i, count] of shop.stored.slice(1).entries())
        assert.ok(count - shop.stored[i]! <= MOST_PAGES[db.engine], 'a slice of the sweep is small');
      assert.deepEqual(await idsFor(db, 'bb'), idsWith(ids, 'bb'));
    });

    it('leaves nothing of a pet that is then renamed or deleted before its words are stored', async t => {
      const shop = await aShop(t, openStore);
      const { db, index } = shop;
      shop.beforeEach = loseConnection;
      const ids = await writeLong(shop, tx => createAll(shop, tx));
      const [last, renamedLast, ...others] = ids.toReversed();
      await pets.remove(db, last!, () => {}, index);
      await pets.update(db, renamedLast!, pet => ({ ...pet, name: 'Max of Kent' }), index);
      assert.equal(await storedWords(db, renamedLast), 2);
      const first = others.pop()!;
      assert.equal(await storedWords(db, first), WORDS, 'its own transaction stored them');
      await pets.update(db, first, pet => ({ ...pet, name: 'Ada of York' }), index);
      assert.equal(await storedWords(db, first), 2);
      shop.beforeEach = () => {};
      while (await index.sweep());
      assert.equal(await leftIn(db), 0);
      assert.equal(await storedWords(db), others.length * WORDS + 2 + 2);
    });

    // The embedded store has one writer.
    if (engine === 'PostgreSQL') {
      it('stores nothing of a name that another transaction changes meanwhile', async t => {
        const shop = await aShop(t, openStore);
        const { db, index } = shop;
        shop.beforeEach = loseConnection;
        await writeLong(shop, tx => createAll(shop, tx));
        shop.beforeEach = () => {};
        const { id } = (await db.get<{ id: number }>('SELECT min(pet_id) AS id FROM pets_to_index'))!;
        const commit = await holdLocks(db, tx =>
          pets.update(tx, id, pet => ({ ...pet, name: 'Max of Kent' }), index),
        );
        const { lock } = CountedTransaction.prototype;
        t.mock.method(
          CountedTransaction.prototype,
          'lock',
          async function (this: CountedTransaction, ...names: string[]) {
            await Promise.all([lock.apply(this, names), commit()]);
          },
        );
        while (await index.sweep());
        assert.equal(await storedWords(db, id), 2);
      });
    }

    it('that is interrupted after it deleted more pets than a slice has leaves no words after the sweep', async t => {
      const shop = await aShop(t, openStore);
      const { db, index } = shop;
      const names = Array.from({ length: 320 }, (_, i) => ({ name: nameOf(i), categoryId: 1 }));
      await storePets(db, names);
      shop.beforeEach = loseConnection;
      const ids = await db.all<{ id: number }>('SELECT id FROM pets ORDER BY id');
      await writeLong(shop, async tx => {
        for (const { id } of ids) await pets.remove(tx, id, () => {}, index);
      });
      assert.ok((await leftIn(db)) > 200);
      shop.beforeEach = () => {};
      while (await index.sweep());
      assert.deepEqual([await leftIn(db), await storedWords(db)], [0, 0]);
    });

    it('does not wait for longer than ten seconds, and the sweep stores the rest', async t => {
      const shop = await aShop(t, openStore);
      const { db, index } = shop;
      shop.beforeEach = () => {
        shop.passed += 10_000;
      };
      await writeLong(shop, tx => createAll(shop, tx));
      assert.equal(shop.stored.length, 1 + 1, 'one transaction');
      assert.ok((await leftIn(db)) > 0);
      while (await index.sweep());
      assert.equal(await leftIn(db), 0);
      assert.equal(await storedWords(db), shop.pets * WORDS);
    });

    const namesOfMuchWork = {
      'more words than one statement removes': Array.from({ length: 100 }, (_, i) =>
        String.fromCodePoint(0x249c + (i % 26), 0x4e00 + i),
      ).join(''),
      'many words': Array.from({ length: 66 }, (_, i) => String.fromCodePoint(0x4e00 + i, 0x5e00 + i)).join(
        ' ',
      ),
      'long decomposed forms': '\ufdfa'.repeat(200),
    };
    for (const [kind, name] of Object.entries(namesOfMuchWork)) {
      it(`changes few pages, and reads few characters, in each turn of the event loop: ${kind}`, async t => {
        const { db, index, turns } = await aShop(t, openStore);
        const unindexed = async (change: string, words: string) => {
          await db.write(async tx => {
            await tx.run(`INSERT INTO pets_to_index (pet_id, indexed_name) SELECT id, ${words} FROM pets`);
            await tx.run(change);
          });
          while (await index.sweep());
        };
        const rows = Array.from({ length: 100 }, () => [name, name, 1, 'available', 1]);
        await db.write(async tx =>
          insertRows(tx, 'pets (name, name_key, category_id, status, quantity)', rows),
        );
        await unindexed('UPDATE pets SET quantity = 2', 'NULL');
        await unindexed('DELETE FROM pets', 'name_key');
        assert.deepEqual([await leftIn(db), await storedWords(db)], [0, 0]);
        const words = storedWordsOf(name).length;
        for (const turn of turns) {
          assert.ok(turn.words <= MOST_IN_TURN + words, `${turn.words} words`);
          assert.ok(turn.names <= 20, `${turn.names} names`);
        }
        const statements = 100 + 100 * Math.ceil(words / 100);
        assert.equal(
          turns.reduce((sum, turn) => sum + turn.names, 0),
          statements,
        );
      });
    }

    it('stores the words of ordinary names itself', async t => {
      const shop = await aShop(t, openStore);
      await writeLong(shop, async tx => {
        for (let i = 0; i < 190; i++)
          await pets.create(tx, { name: `Bella the Labrador ${i}`, categoryId: 1 }, shop.index);
      });
      assert.deepEqual(shop.stored, [], 'no further transaction');
      assert.equal(await leftIn(shop.db), 0);
      assert.equal(await storedWords(shop.db), 190 * 3);
      while (await shop.index.sweep());
      assert.ok(shop.index.known.has('labrador'), 'the sweep learns known words');
    });
  });
}
