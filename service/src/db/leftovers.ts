import type { AfterCommit } from './database.ts';

/** The number of pages of indexes that a long write may change: its commit writes them at once, and other writers wait for it. */
const MAX_PAGES = 1_000;

/** What a long write leaves for after its commit. */
export class Leftovers {
  #room = MAX_PAGES;
  readonly #works = new Map<AfterCommit, Set<number>>();

  /** Whether there is still room for some pages, which is then taken. */
  take(pages: number): boolean {
    if (pages > this.#room) return false;
    this.#room -= pages;
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
