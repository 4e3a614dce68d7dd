import assert from 'node:assert/strict';
import type { CloudEvent } from '../support/event-reader.ts';

/** What clients know of one category: its changes are numbered in its description. */
interface Known {
  acknowledged: number[];
  /** A change that was sent and not answered may have been made, or not. */
  uncertain: number[];
}

/** All changes that clients sent, to be held against the log. */
export class EventLedger {
  readonly #known = new Map<string, Known>();
  #acknowledged = 0;

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Sends change `version` of the category `name`; version 0 creates it. What is thrown leaves it uncertain. */
  async record<T>(name: string, version: number, send: () => Promise<T>): Promise<T> {
    const known = this.#known.get(name) ?? { acknowledged: [], uncertain: [] };
    this.#known.set(name, known);
    known.uncertain.push(version);
    const response = await send();
    known.uncertain.pop();
    known.acknowledged.push(version);
    this.#acknowledged++;
    return response;
  }

  /** Every acknowledged change is told exactly once and in order, an uncertain one at most once, and nothing else. */
  check(events: readonly CloudEvent[]): void {
    const told = Map.groupBy(
      events.filter(({ type }) => type.startsWith('category.')),
      ({ data }) => data.name as string,
    );
    for (const [name, { acknowledged, uncertain }] of this.#known) {
      const changes = told.get(name) ?? [];
      const versions = changes.map(({ data }) => Number(data.description));
      assert.deepEqual(
        versions.filter(version => !uncertain.includes(version)),
        acknowledged,
        name,
      );
      assert.deepEqual(
        versions,
        [...new Set(versions)].toSorted((a, b) => a - b),
        `${name} is out of order`,
      );
      for (const [i, { type }] of changes.entries())
        assert.equal(type, i === 0 ? 'category.created' : 'category.updated');
    }
    assert.deepEqual(
      [...told.keys()].filter(name => !this.#known.has(name)),
      [],
    );
  }
}
