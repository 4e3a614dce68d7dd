import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from './client.ts';
import type { CloudEvent } from './event-reader.ts';
import { nextPath } from './pages.ts';
import type { TestApp } from './test-app.ts';

/** How long the log may take to number what was committed, in milliseconds. */
const PATIENCE = 10_000;

/** All events after a cursor that are there now, page by page, to the end of the log. */
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

/** The cursor at the end of the log as it is numbered now. */
export async function latestCursor(api: Client): Promise<string> {
  const page = await api.get('/events?cursor=latest&limit=1');
  assert.equal(page.status, 200, page.text);
  return cursorOf(nextPath(page)!);
}

/** What `settledCursor` appends has subjects of its own. */
export const MARK = 'marks/';

let marks = 0;

/** Waits until all that is committed is numbered: at once in the embedded store. Answers the cursor at the end. */
export async function settledCursor({ app, api }: Pick<TestApp, 'app' | 'api'>): Promise<string> {
  const subject = `${MARK}${++marks}`;
  await app.db.write(async tx => tx.append({ type: 'key.updated', subject, data: '{}' }));
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    const [mark] = await app.db.all('SELECT id FROM events WHERE subject = ?', [subject]);
    if (mark) return latestCursor(api);
    assert.ok(performance.now() < deadline, 'the log was not numbered');
    await sleep(2);
  }
}

/** Runs `change` and answers the events that it brought. */
export async function eventsOf(
  shop: Pick<TestApp, 'app' | 'api'>,
  change: () => Promise<unknown>,
): Promise<CloudEvent[]> {
  const before = await settledCursor(shop);
  await change();
  await settledCursor(shop);
  const events = await eventsAfter(shop.api, before);
  return events.filter(({ subject }) => !subject.startsWith(MARK));
}

/** Fails unless the numbers follow on each other from `first`. */
export function assertGapless(ids: readonly number[], first: number): void {
  for (const [place, id] of ids.entries()) assert.equal(id, first + place, 'a gap, or an event out of order');
}
