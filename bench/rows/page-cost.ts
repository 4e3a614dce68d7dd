import { text } from 'node:stream/consumers';
import type { Bench, Effort, Row } from '../harness/bench.ts';
import {
  atMost,
  type Finding,
  medianOf,
  type Spread,
  showSpread,
  showTarget,
  spread,
  type Target,
  verdictOf,
} from '../harness/findings.ts';
import { type Client, requestText, respond } from '../harness/http.ts';
import type { Load } from '../harness/load-generator.ts';
import { measurePairs, type Pair } from '../harness/pairs.ts';
import { type Server, startService } from '../harness/servers.ts';
import { FEW_ROWS, MANY_ROWS } from '../stores/fill-shop.ts';
import type { Engine, FilledStore } from '../stores/filled-stores.ts';
import { lastPage, lists, readLink, shortened } from '../stores/list-targets.ts';

const PAGE = 20;
/** Short, because there are more than a hundred combinations: it only finds candidates for the worst. */
const SCREENING: Effort = { pairs: 2, seconds: 0.1, warmUpSeconds: 0.05 };
/** How many combinations of each list are measured again, longer, for the verdict. */
const WORST = 2;
const VERDICT: Effort = { pairs: 5, seconds: 0.4, warmUpSeconds: 0.1 };

export const pageCost: Row = {
  name: 'page-cost',
  measure: bench => measureLists(bench, 'SQLite', atMost(' ×', 1.3)),
};

/**
 * Only latency on one connection counts: it includes the work of the database's processes and no waiting for other requests, and the
 * CPU time of the service means little.
 */
export const postgresPageCost: Row = {
  name: 'postgres-page-cost',
  measure: bench => measureLists(bench, 'PostgreSQL', atMost(' ×', 1.5)),
};

/** A combination of filters and sorts that was measured. */
interface Measured {
  target: string;
  sides: readonly [many: Load, few: Load];
  pairs: Pair[];
}

/** Compares the cost of pages with many and few rows for every documented filter and sort, on first and last pages. */
async function measureLists(bench: Bench, engine: Engine, goal: Target): Promise<Finding[]> {
  const [many, few] = [await bench.stores.get(engine, MANY_ROWS), await bench.stores.get(engine, FEW_ROWS)];
  await using manyServer = await startService(many);
  await using fewServer = await startService(few);
  const load = async (server: Server, { access: { apiKey } }: FilledStore, target: string) => {
    const pages = await firstAndLast({ port: server.port, apiKey }, target);
    return { server, requests: pages.map(page => requestText('GET', page, apiKey)), connections: 1 };
  };
  const findings: Finding[] = [];
  for (const { path, queries } of lists({ common: true })) {
    if (!/^\/(pets|categories|store)/.test(path)) continue;
    const screened: Measured[] = [];
    for (const query of queries) {
      const target = `${path}?limit=${PAGE}&${query}`;
      const sides = [await load(manyServer, many, target), await load(fewServer, few, target)] as const;
      if (sides[0].requests.length !== sides[1].requests.length)
        throw new Error(`${target}: different pages`);
      // These filters and this sort cannot be combined.
      if (sides[0].requests.length === 0) continue;
      screened.push({ target, sides, pairs: await measurePairs({ ...bench, effort: SCREENING }, ...sides) });
    }
    const suspects = screened.toSorted((a, b) => latencyRatio(b).median - latencyRatio(a).median);
    const confirmed: Measured[] = [];
    for (const { target, sides } of suspects.slice(0, WORST))
      confirmed.push({ target, sides, pairs: await measurePairs({ ...bench, effort: VERDICT }, ...sides) });
    findings.push(
      costFinding(
        `${path}, the worst of ${screened.length} combinations of filters and sorts`,
        engine,
        goal,
        confirmed,
      ),
    );
  }
  return findings;
}

function latencyRatio({ pairs }: Measured): Spread {
  return spread(pairs.map(({ a, b }) => a.latency.median / b.latency.median));
}

function cpuRatio({ pairs }: Measured): Spread {
  return spread(pairs.map(({ a, b }) => a.serverCpuPerRequest / b.serverCpuPerRequest));
}

/** Returns the targets of the first and the last page of a list; none if the combination is not allowed. */
async function firstAndLast(client: Client, target: string): Promise<string[]> {
  const response = await respond(client, 'GET', target);
  const body = await text(response);
  if (response.statusCode === 400) return [];
  // An empty page would be too cheap.
  if (response.statusCode !== 200 || body === '[]')
    throw new Error(`${target}: ${response.statusCode} ${body}`);
  const last = await lastPage(readLink(client), target);
  return last === undefined ? [target] : [target, last];
}

/** The verdict is that of the worst combination of a list. */
function costFinding(list: string, engine: Engine, goal: Target, confirmed: readonly Measured[]): Finding {
  const [worst] = confirmed.toSorted((a, b) => latencyRatio(b).median - latencyRatio(a).median);
  const [latency, cpu] = [latencyRatio(worst!), cpuRatio(worst!)];
  const isEmbedded = engine === 'SQLite';
  const microseconds = medianOf(worst!.pairs, ({ a }) => a.latency.median).toFixed(0);
  return {
    what:
      `${isEmbedded ? '' : `${engine}: `}page of ${PAGE} at ${MANY_ROWS.toLocaleString('en')} rows / at ${FEW_ROWS.toLocaleString('en')}: ` +
      list,
    target: `${showTarget(goal)}${isEmbedded ? '' : ' in latency'}`,
    measured: `CPU ${isEmbedded ? '' : 'without the database '}${showSpread(cpu, 2)}; latency ${showSpread(latency, 2)}`,
    absolute: `${shortened(worst!.target)}: ${microseconds} µs; 1 connection`,
    verdict: verdictOf(goal, isEmbedded ? Math.max(latency.median, cpu.median) : latency.median),
  };
}
