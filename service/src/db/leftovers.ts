import type { AfterCommit } from './database.ts';

/** The maximum number of rows of indexes that a long write changes itself: other writers wait for it. */
const MAX_ROWS = 4_000;

/** What a long write leaves for after its commit. */
export class Leftovers {
  #room = MAX_ROWS;
  readonly #works = new Map<AfterCommit, Set<number>>();

  /** Whether there is still room for some rows, which is then taken. */
  take(rows: number): boolean {
    if (rows > this.#room) return false;
    this.#room -= rows;
    return true;
  }

  add(work: AfterCommit, id: number): void {
    const ids = this.#works.get(work) ?? new Set();
    this.#works.set(work, ids.add(id));
  }

  /** Does the work. Call it after the commit. */
  async finish(): Promise<void> {
    for (const [work, ids] of this.#works) await work([...ids]);
  }
}
