import type { Queries, Transaction, Writer } from './database.ts';
import { WrappedQueries } from './wrapped-store.ts';

/**
 * Returns a store whose writes are executed, checked and undone. Each has a transaction of its own, so that no other write sees its
 * changes.
 */
export function undoneStore(db: Queries & Writer): Queries & Writer {
  return new UndoneStore(db);
}

/** The response to it arrives after those to all statements whose callers do not wait, and fails if one of them has. */
const LAST_STATEMENT = 'SELECT 1';

class UndoneStore extends WrappedQueries<Queries & Writer> implements Writer {
  async write<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    const undo = new Error('The changes of a test are undone');
    let value: T;
    const execute = async (tx: Transaction) => {
      value = await work(tx);
      await tx.get(LAST_STATEMENT);
      throw undo;
    };
    try {
      await this.inner.write(execute, { alone: true });
    } catch (error) {
      if (error !== undo) throw error;
    }
    return value!;
  }
}
