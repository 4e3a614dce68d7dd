import type { AfterCommit } from './database.ts';

/** What a long write leaves for after its commit. */
export class Leftovers {
  #room: number;
  readonly #works = new Map<AfterCommit, Set<number>>();

  /** @param room the number of pages of indexes that the write may change */
  constructor(room: number) {
    this.#room = room;
  }

  /** Whether there is still room for some pages, which is then taken. Pages without room end it, and later ones need not be counted. */
  take(pages: () => number): boolean {
    if (this.#room <= 0) return false;
    const needed = pages();
    const fits = needed <= this.#room;
    this.#room = fits ? this.#room - needed : 0;
    return fits;
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
