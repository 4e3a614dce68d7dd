import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Finding, figure, type Spread, spread } from '../harness/findings.ts';
import type { Server } from '../harness/servers.ts';
import { exchange, type RawRequest, type RawResponse } from './exchange.ts';

/** No request may block the event loop for longer, in milliseconds (docs/decisions/0022). */
const AT_MOST = 25;
/** The number of measurements of the worst requests of a group. */
const REPETITIONS = 7;
/** How many requests of a group are measured again, because noise can make another request look the worst. */
const WORST = 5;
/** The longest turn of an idle loop, in milliseconds: the machine has other work. */
const IDLE = 4;

/** How long requests of one name blocked the event loop, in milliseconds. */
export interface Hold {
  name: string;
  times: number[];
}

/** Runs `what`, and returns the longest time that the event loop of the server was blocked in that time. */
export async function holdDuring(
  server: Server,
  what: () => Promise<unknown>,
  settleFor = 3,
): Promise<number> {
  await server.requestProbe();
  await what();
  // The last turn has ended when the timer of the probe has run once more.
  await sleep(settleFor);
  return server.requestProbe();
}

/** Waits until the service is idle. */
export async function untilIdle(server: Server): Promise<void> {
  const deadline = performance.now() + 20_000;
  while (performance.now() < deadline) {
    if ((await holdDuring(server, () => sleep(100))) < IDLE) return;
  }
}

/** Measures every request once, and the `worst` of them again. `look` gets the first response to each request. */
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

/** Repeats a measurement, by default as often as for the worst requests. */
export async function repeated(measure: () => Promise<number>, times = REPETITIONS): Promise<number[]> {
  const holds: number[] = [];
  while (holds.length < times) holds.push(await measure());
  return holds;
}

/** Returns a row of the table for the worst of the group. The whole group is written to stderr. */
export function holdFinding(group: string, holds: readonly Hold[], details = ''): Finding {
  // A single measurement is not compared with the median of several.
  const candidates = holds.some(({ times }) => times.length > 1)
    ? holds.filter(({ times }) => times.length > 1)
    : holds;
  const sorted = candidates.toSorted((a, b) => medianOf(b) - medianOf(a));
  const [worst] = sorted as [Hold];
  show(group, holds);
  const over = holds.filter(hold => medianOf(hold) > AT_MOST).length;
  return figure({
    what: `longest block of the event loop: ${group} (worst: \`${worst.name}\`)`,
    target: atMost(' ms', AT_MOST),
    values: worst.times,
    digits: 1,
    absolute: `${holds.length} kinds, ${over} of them above ${AT_MOST} ms${details && `; ${details}`}`,
  });
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
