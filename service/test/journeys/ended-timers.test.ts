import assert from 'node:assert/strict';
import { it } from 'node:test';
import { EventReader } from '../support/event-reader.ts';
import { startTestApp } from '../support/test-app.ts';
import { valuesOf } from '../support/values.ts';

it('the timers of a service end with it, also those that keep no process running', async t => {
  const started = t.mock.method(globalThis, 'setInterval');
  const ended = t.mock.method(globalThis, 'clearInterval');
  const { app, origin, adminKey } = await startTestApp(t);
  const reader = await EventReader.open(origin, adminKey);
  await app.close();
  await reader.close();
  const endedTimers = new Set(ended.mock.calls.map(({ arguments: [timer] }) => timer));
  const left = started.mock.calls.filter(({ result }) => !endedTimers.has(result));
  assert.deepEqual(valuesOf(left, 'arguments'), []);
});
