import { startBackends } from '../harness/backends.ts';
import { throughputFinding } from '../harness/findings.ts';
import type { LoadGenerator } from '../harness/load-generator.ts';
import { type Effort, measurePairs } from '../harness/pairs.ts';
import { type ServiceSettings, startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';
import { CONNECTIONS, type Row } from './row.ts';

/** A write may cost 15 % more with the log. */
const TARGET = { goal: 0.87 };

export const eventLogCost: Row = {
  name: 'event-log-cost',
  async measure(generator, effort) {
    const embedded = await compare(generator, effort, 'embedded store', {}, {});
    await using withLog = await startBackends();
    await using withoutLog = await startBackends();
    return [embedded, await compare(generator, effort, 'PostgreSQL + Redis', withLog, withoutLog)];
  },
};

async function compare(
  generator: LoadGenerator,
  effort: Effort,
  store: string,
  withLog: ServiceSettings,
  withoutLog: ServiceSettings,
) {
  await using a = await startService(withLog);
  await using b = await startService({ ...withoutLog, preload: 'without-event-log' });
  const load = { expectedStatus: 201, connections: CONNECTIONS };
  const pairs = await measurePairs(
    generator,
    effort,
    { server: a, requests: (await openShop(a)).createPet, ...load },
    { server: b, requests: (await openShop(b)).createPet, ...load },
  );
  const what = `${store}: durable POST of a pet with the event log / without it`;
  return throughputFinding({ what, a: 'with', b: 'without', target: TARGET }, pairs);
}
