import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Logger } from 'pino';
import { DatabaseUnavailable } from '../db/database.ts';
import { SECOND } from '../kit/clock.ts';
import { OutageLog } from './outage-log.ts';

it('a line about the store has the failures and the last request since the previous line', () => {
  const lines: object[] = [];
  let now = 0;
  const log = new OutageLog({ warn: (line: object) => lines.push(line) } as unknown as Logger, {
    now: () => now,
  });
  const outage = (reason: string) => new DatabaseUnavailable(new Error(reason));
  log.writeTask('counts', outage('first'), 'Counts could not be stored');
  log.writeRequest('r1', outage('second'));
  log.writeRequest('r2', outage('third'));
  log.writeTask('counts', outage('fourth'), 'Counts could not be stored');
  now += SECOND;
  log.pace.tick();
  now += SECOND;
  log.writeTask('events', outage('fifth'), 'Events could not be read');
  assert.deepEqual(lines, [
    { reason: 'first', requestId: undefined, failed: { counts: 1 } },
    { reason: 'fourth', requestId: 'r2', failed: { requests: 2, counts: 1 } },
    { reason: 'fifth', requestId: undefined, failed: { events: 1 } },
  ]);
});
