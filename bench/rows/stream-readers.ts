import type { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { openStream } from '../harness/event-streams.ts';
import { type Finding, showSpread, spread } from '../harness/findings.ts';
import { create } from '../harness/http-requests.ts';
import { residentMegabytes } from '../harness/process-stats.ts';
import { startService } from '../harness/servers.ts';
import type { Row } from './row.ts';

const READERS = 1_000;
const EVENTS = 50;

/** Many readers of the event stream, all of which get every event. */
export const streamReaders: Row = {
  name: 'stream-readers',
  async measure() {
    await using server = await startService({ streamsPerKey: READERS });
    const apiKey = await server.administratorKey();
    const open = (): Promise<IncomingMessage> =>
      openStream(server.port, '/events/stream?type=category.*', apiKey);
    // The memory of modules that the first stream loads does not count.
    const first = await open();
    await sleep(1_000);
    const before = residentMegabytes(server.pid);
    const streams = [first];
    while (streams.length < READERS)
      streams.push(
        ...(await Promise.all(Array.from({ length: Math.min(50, READERS - streams.length) }, open))),
      );
    await sleep(1_000);
    const each = ((residentMegabytes(server.pid) - before) * 1_000) / READERS;

    let waiting = 0;
    let onAll = () => {};
    for (const stream of streams) {
      stream.on('data', (chunk: Buffer) => {
        if (chunk.includes('\nevent: ') && --waiting === 0) onAll();
      });
    }
    const delays: number[] = [];
    for (let i = 0; i < EVENTS; i++) {
      const all = new Promise<void>(resolve => {
        onAll = resolve;
      });
      waiting = READERS;
      const sentAt = performance.now();
      await create(server.port, '/categories', apiKey, { name: `Category ${i}` });
      await all;
      delays.push(performance.now() - sentAt);
    }
    for (const stream of streams) stream.destroy();
    return [finding(each, delays)];
  },
};

function finding(each: number, delays: number[]): Finding {
  return {
    what: `${READERS.toLocaleString('en')} readers of the stream on one process: time from a change until the last reader has its event`,
    target: 'none',
    measured: showSpread(spread(delays), 0, ' ms'),
    absolute: `${each.toFixed(1)} kB of memory per reader; ${EVENTS} changes, one after another; the readers are one process on the same cores`,
    verdict: undefined,
  };
}
