import assert from 'node:assert/strict';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';

/** How many turns of the event loop a check waits without pauses. */
const TURNS = 100;

/** How many pauses of 10 ms follow. Without them, what is left behind would keep a processor busy. */
const PAUSES = 200;

/** The kinds of the sockets, servers and timers that are open now, one entry for each. */
export function openResources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter(name => /^(TCP|Timeout|Immediate)/.test(name))
    .sort();
}

/** Fails when sockets, servers or timers are open that were not `before`. */
export async function assertNothingLeft(before: readonly string[]): Promise<void> {
  // Node.js releases a closed socket some turns of the event loop later. A process that stands still has no turns meanwhile.
  for (let turn = 0; openedSince(before).length > 0 && turn < TURNS + PAUSES; turn++)
    await (turn < TURNS ? nextTurn() : sleep(10));
  assert.deepEqual(openedSince(before), [], 'sockets or timers were left behind');
}

/** The kinds of the resources that were opened since `before`, one entry for each. */
function openedSince(before: readonly string[]): string[] {
  const known = [...before];
  return openResources().filter(name => {
    const place = known.indexOf(name);
    if (place >= 0) known.splice(place, 1);
    return place < 0;
  });
}
