import { throughputFinding } from '../harness/findings.ts';
import type { LoadGenerator } from '../harness/load-generator.ts';
import { type Effort, measurePairs } from '../harness/pairs.ts';
import { startBareHttp, startService } from '../harness/servers.ts';
import { openShop } from '../harness/shop.ts';
import type { Target } from '../harness/targets.ts';
import { CONNECTIONS, type Row } from './row.ts';

/** The targets for reads while one trace in a hundred is exported, and while all are. */
const GOALS = [
  { ratio: 0.01, target: { goal: 0.8 } },
  { ratio: 1, target: { goal: 0.3 } },
] as const;

export const traceCost: Row = {
  name: 'trace-cost',
  async measure(generator, effort) {
    const findings = [];
    for (const goal of GOALS) findings.push(await compare(generator, effort, goal));
    return findings;
  },
};

async function compare(
  generator: LoadGenerator,
  effort: Effort,
  { ratio, target }: { ratio: number; target: Target },
) {
  // The collector accepts every export and ignores it.
  await using collector = await startBareHttp({ status: 200, headers: {}, body: '{}' });
  const endpoint = `http://127.0.0.1:${collector.port}`;
  await using exporting = await startService({ traces: { endpoint, ratio } });
  await using without = await startService();
  const load = { expectedStatus: 200, connections: CONNECTIONS };
  const pairs = await measurePairs(
    generator,
    effort,
    { server: exporting, requests: (await openShop(exporting)).readPet, ...load },
    { server: without, requests: (await openShop(without)).readPet, ...load },
  );
  const what = `GET of one pet while ${ratio * 100} % of the traces are exported / while none are`;
  return throughputFinding({ what, a: 'exporting', b: 'without', target }, pairs);
}
