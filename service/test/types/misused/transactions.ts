import * as categories from '../../../src/catalog/categories/categories.ts';
import { categoryTable } from '../../../src/catalog/categories/category.ts';
import type { Statements, Transaction, Writer } from '../../../src/db/database.ts';

const SQL = 'UPDATE categories SET name = name';

interface Access {
  db: Statements & Writer;
  now: number;
}

export async function correct(access: Access, after: Transaction): Promise<void> {
  const { db, now } = access;
  await db.run(SQL);
  await db.write(async tx => {
    await tx.run(SQL, [now, access.now]);
    await tx.write(async inner => void (await inner.run(SQL)));
    await categories.read(tx, 1);
    await using(Object.assign({ ...access, db: tx }));
    await after.run(SQL);
  });
}

export async function wrong(access: Access): Promise<void> {
  const { db } = access;
  await db.write(async tx => {
    await tx.run(SQL);
    // Found: db is not the transaction
    await db.run(SQL);
    // Found: db is not the transaction
    await categories.read(db, 1);
    // Found: access.db is not the transaction
    await categoryTable.find(access.db, 1);
    // Found: access is not the transaction
    await using(access);
    // Found: access is not the transaction
    await using({ ...access, now: 1 });
    // Found: db is not the transaction
    await using({ db, now: 1 });
    await tx.savepoint(async () => {
      // Found: db is not the transaction
      await db.write(async inner => void (await inner.run(SQL)));
    });
  });
}

export async function usingFunction(access: Access): Promise<void> {
  // Found: access is not the transaction
  const work = (tx: Transaction) => Promise.all([tx.run(SQL), using(access)]);
  await access.db.write(work);
}

async function using({ db }: Access): Promise<void> {
  await db.run(SQL);
}

export class Shelf {
  readonly #db: Statements & Writer;

  constructor(db: Statements & Writer) {
    this.#db = db;
  }

  async fill(): Promise<void> {
    await this.#db.write(async tx => {
      await tx.run(SQL);
      // Found: this.#db is not the transaction
      await this.#db.run(SQL);
      await this.#clear();
    });
  }

  async #clear(): Promise<void> {
    // Found: this.#db is not the transaction
    await this.#db.run(SQL);
  }
}
