import assert from 'node:assert/strict';
import type { CloudEvent } from '../support/event-reader.ts';
import { assertNone } from '../support/values.ts';

/** The changes of one category that clients sent. Its description contains the number of the change. */
interface Known {
  acknowledged: number[];
  /** Changes without a response: they may be stored or not. */
  uncertain: number[];
}

/** All changes that clients sent, to compare them with the event log. */
export class EventLedger {
  readonly #known = new Map<string, Known>();
  #acknowledged = 0;

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /**
   * Sends change `version` of the category `name`; version 0 creates it. If `send` throws, the change remains
   * uncertain.
   */
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

  isIn(events: readonly CloudEvent[]): boolean {
    const isUncertain = ({ data }: CloudEvent) =>
      this.#known.get(data.name as string)?.uncertain.includes(Number(data.description));
    const changes = events.filter(event => event.type.startsWith('category.') && !isUncertain(event));
    return changes.length >= this.#acknowledged;
  }

  /** Asserts one event for every acknowledged change, in order, at most one for an uncertain change, and no others. */
  check(events: readonly CloudEvent[]): void {
    const logged = Map.groupBy(
      events.filter(({ type }) => type.startsWith('category.')),
      ({ data }) => data.name as string,
    );
    for (const [name, { acknowledged, uncertain }] of this.#known) {
      const changes = logged.get(name) ?? [];
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
    assertNone([...logged.keys()], name => !this.#known.has(name));
  }
}
