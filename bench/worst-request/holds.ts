import { setTimeout as sleep } from 'node:timers/promises';
import { type Finding, type Spread, showSpread, spread } from '../harness/findings.ts';
import type { Server } from '../harness/servers.ts';
import { verdictOf } from '../harness/targets.ts';
import { exchange, type RawRequest, type RawResponse } from './exchange.ts';

/** DESIGN §7: no request blocks the event loop for longer, in milliseconds. */
const AT_MOST = 25;
/** Measurements of the worst requests of a group. */
const REPETITIONS = 7;
/** How many of a group are measured so often: noise can have made another one than the worst look it. */
const WORST = 5;
/** A turn of an idle loop, in milliseconds, at most: the machine has other things to do. */
const IDLE = 4;

/** How long requests of one name blocked the event loop, in milliseconds. */
export interface Hold {
  name: string;
  times: number[];
}

/** Does something, and answers how long the event loop of the server was blocked meanwhile at most. */
export async function holdDuring(
  server: Server,
  what: () => Promise<unknown>,
  settleFor = 3,
): Promise<number> {
  await server.requestProbe();
  await what();
  // The last turn is over when the timer of the probe has run once more.
  await sleep(settleFor);
  return server.requestProbe();
}

/** Waits until the service has nothing to do any more. */
export async function untilIdle(server: Server): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (performance.now() < deadline) {
    if ((await holdDuring(server, () => sleep(100))) < IDLE) return;
  }
}

/** Measures every request once, and the `worst` ones of them again. `look` sees each first answer. */
export async function holdsOf<R extends RawRequest>(
  server: Server,
  requests: readonly R[],
  { look, worst = WORST }: { look?: (request: R, response: RawResponse) => void; worst?: number } = {},
): Promise<Hold[]> {
  const measured: { request: R; hold: Hold }[] = [];
  for (const request of requests) {
    const time = await holdDuring(server, async () => {
      const response = await exchange(server.port, request);
      look?.(request, response);
    });
    measured.push({ request, hold: { name: request.name, times: [time] } });
  }
  const again = measured.toSorted((a, b) => b.hold.times[0]! - a.hold.times[0]!).slice(0, worst);
  for (const { request, hold } of again) {
    hold.times = await repeated(() => holdDuring(server, () => exchange(server.port, request)));
  }
  return measured.map(({ hold }) => hold);
}

/** The same measurement as often as the worst requests are measured. */
export async function repeated(measure: () => Promise<number>, times = REPETITIONS): Promise<number[]> {
  const holds: number[] = [];
  while (holds.length < times) holds.push(await measure());
  return holds;
}

/** A line of the table: the worst of the group. All of the group go to stderr. */
export function holdFinding(group: string, holds: readonly Hold[], details = ''): Finding {
  // One measurement alone is not compared with the median of several.
  const candidates = holds.some(({ times }) => times.length > 1)
    ? holds.filter(({ times }) => times.length > 1)
    : holds;
  const sorted = candidates.toSorted((a, b) => medianOf(b) - medianOf(a));
  const [worst] = sorted as [Hold];
  show(group, holds);
  const over = holds.filter(hold => medianOf(hold) > AT_MOST).length;
  const median = medianOf(worst);
  return {
    what: `longest hold of the event loop: ${group} (worst: \`${worst.name}\`)`,
    target: `≤ ${AT_MOST} ms`,
    measured: showSpread(spread(worst.times), 1, ' ms'),
    absolute: `${holds.length} kinds, ${over} of them above ${AT_MOST} ms${details && `; ${details}`}`,
    verdict: verdictOf(median <= AT_MOST),
  };
}

function medianOf({ times }: Hold): number {
  return spread(times).median;
}

function show(group: string, holds: readonly Hold[]): void {
  const lines = holds
    .toSorted((a, b) => medianOf(b) - medianOf(a))
    .map(({ name, times }) => `  ${showTimes(spread(times))}  ${name}\n`);
  process.stderr.write(`${group}, ${holds.length} kinds:\n${lines.join('')}`);
}

function showTimes({ median, min, max }: Spread): string {
  return `${median.toFixed(1).padStart(7)} ms (${min.toFixed(1)}–${max.toFixed(1)})`;
}
