import assert from 'node:assert/strict';
import type { Client } from './client.ts';
import type { CloudEvent } from './event-reader.ts';
import { nextPath } from './pages.ts';
import type { TestApp } from './test-app.ts';

/** All events after a cursor that are in the log now, page by page. */
export async function eventsAfter(api: Client, cursor: string | number, query = ''): Promise<CloudEvent[]> {
  const events: CloudEvent[] = [];
  const latest = Number(await latestCursor(api));
  for (let path = `/events?limit=100&cursor=${cursor}${query}`; ; ) {
    const page = await api.get(path);
    assert.equal(page.status, 200, page.text);
    events.push(...page.body);
    path = nextPath(page)!;
    if (Number(cursorOf(path)) >= latest) return events;
  }
}

export function cursorOf(path: string): string {
  return new URLSearchParams(path.split('?')[1]).get('cursor')!;
}

/** The cursor at the current end of the log. */
export async function latestCursor(api: Client): Promise<string> {
  const page = await api.get('/events?cursor=latest&limit=1');
  assert.equal(page.status, 200, page.text);
  return cursorOf(nextPath(page)!);
}

/** Waits until every committed event has its number. Returns the cursor at the end of the log. */
export async function settledCursor({ app, api }: Pick<TestApp, 'app' | 'api'>): Promise<string> {
  await app.db.numberEvents();
  return latestCursor(api);
}

/** The events that a change appends. Warnings of earlier requests are stored before it. */
export async function eventsOf(
  shop: Pick<TestApp, 'app' | 'api'>,
  change: () => Promise<unknown>,
): Promise<CloudEvent[]> {
  await shop.app.keyLimits.flush();
  const before = await settledCursor(shop);
  await change();
  await settledCursor(shop);
  return eventsAfter(shop.api, before);
}

/** Fails unless the numbers are consecutive from `first`. */
export function assertGapless(ids: readonly number[], first: number): void {
  for (const [place, id] of ids.entries()) assert.equal(id, first + place, 'a gap, or an event out of order');
}
