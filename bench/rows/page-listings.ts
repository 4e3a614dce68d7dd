import type { Database } from '../../service/src/db/database.ts';
import { encodeCursor } from '../../service/src/kit/paging.ts';
import { fillLists, filterValue } from '../../service/test/support/full-lists.ts';
import { combinationsOf, type ListRoute, lists } from '../../service/test/support/lists.ts';
import { type Finding, medianOf, type Spread, showSpread, spread } from '../harness/findings.ts';
import { getRequest } from '../harness/http-requests.ts';
import type { LoadGenerator } from '../harness/load-generator.ts';
import { type Effort, measurePairs, type Pair, type Side } from '../harness/pairs.ts';
import type { Server } from '../harness/servers.ts';
import { verdictOf } from '../harness/targets.ts';

export const MANY_ROWS = 1_000_000;
export const FEW_ROWS = 1_000;
/** The rows of lists that do not grow with the shop. */
const OTHERS = 1_000;
const PAGE = 20;
const AT_MOST = 1.3;
/** Short, because there are several hundred combinations: it only finds candidates for the worst. */
const SCREENING: Effort = { pairs: 3, seconds: 0.15, warmUpSeconds: 0.05 };
/** How many combinations of each list are measured again, longer, for the verdict. */
const WORST = 3;
const VERDICT: Effort = { pairs: 7, seconds: 0.5, warmUpSeconds: 0.1 };

/** A server with a store of `MANY_ROWS` or `FEW_ROWS` pets and orders, and an administrator's key. */
export interface FilledServer {
  server: Server;
  apiKey: string;
}

export interface CostGoal {
  /** The store, as the start of a row of the table. */
  on: string;
  /** Whether the server's CPU time must also reach the goal. It means little if a database does part of the work. */
  byCpu: boolean;
}

/** Writes pets and orders directly into a store: a million through the API would take longer than the bench. */
export function fillStore(db: Database, pets: number): Promise<void> {
  return fillLists(db, { pets, others: OTHERS });
}

/** Compares the cost of pages with many and few rows for every documented filter and sort, on first and last pages. */
export async function measurePages(
  generator: LoadGenerator,
  goal: CostGoal,
  many: FilledServer,
  few: FilledServer,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const list of lists.filter(({ route }) => /^\/(pets|categories|store)/.test(route.path))) {
    const screened: Cost[] = [];
    for (const query of queriesOf(list)) {
      const side = async ({ server, apiKey }: FilledServer) => {
        const paths = await firstAndLast(server, apiKey, list.route.path, query);
        const requests = paths.map(path => getRequest(path, apiKey));
        return { server, requests, expectedStatus: 200, connections: 1 };
      };
      const [a, b] = [await side(many), await side(few)];
      // This sort is not allowed with these filters.
      if (a.requests.length === 0) continue;
      const pairs = await measurePairs(generator, SCREENING, a, b);
      screened.push({ query: `${query}`, latency: latencyRatio(pairs).median, sides: [a, b] });
    }
    const suspects = screened.toSorted((a, b) => b.latency - a.latency).slice(0, WORST);
    const confirmed: Confirmed[] = [];
    for (const { query, sides } of suspects) {
      confirmed.push({ query, pairs: await measurePairs(generator, VERDICT, ...sides) });
    }
    findings.push(costFinding(list.route.path, goal, screened.length, confirmed));
  }
  return findings;
}

interface Cost {
  query: string;
  latency: number;
  sides: [a: Side, b: Side];
}

interface Confirmed {
  query: string;
  pairs: Pair[];
}

function latencyRatio(pairs: readonly Pair[]): Spread {
  return spread(pairs.map(({ a, b }) => a.latency.median / b.latency.median));
}

function cpuRatio(pairs: readonly Pair[]): Spread {
  return spread(pairs.map(({ a, b }) => a.serverCpuPerRequest / b.serverCpuPerRequest));
}

function queriesOf(list: ListRoute): URLSearchParams[] {
  return combinationsOf(list)
    .filter(({ sort }) => sort !== undefined)
    .map(({ filters, sort }) => {
      const query = new URLSearchParams({ limit: String(PAGE), sort: sort! });
      for (const filter of filters) {
        for (const value of [filterValue(list, filter, 'common')].flat()) query.append(filter, String(value));
      }
      return query;
    });
}

/** Returns the paths of the first page and of a full page at the end of a list; none if the combination is not allowed. */
async function firstAndLast(
  { port }: Server,
  apiKey: string,
  path: string,
  query: URLSearchParams,
): Promise<string[]> {
  const read = async (parameters: URLSearchParams) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}?${parameters}`, {
      headers: { 'X-API-Key': apiKey },
    });
    const body = (await response.json()) as unknown[];
    return { status: response.status, length: body.length, link: response.headers.get('link') };
  };
  const first = await read(query);
  if (first.status === 400) return [];
  // An empty page would be too cheap.
  if (first.length !== PAGE) throw new Error(`${path}?${query}: ${first.status} with ${first.length} items`);
  const sort = query.get('sort')!;
  const backwards = new URLSearchParams(query);
  backwards.set('sort', sort.startsWith('-') ? sort.slice(1) : `-${sort}`);
  backwards.set('limit', String(2 * PAGE));
  const [digest] = partsOfCursor(first.link!);
  const [, ...key] = partsOfCursor((await read(backwards)).link!);
  const last = new URLSearchParams(query);
  last.set('cursor', encodeCursor(digest!, key));
  return [`${path}?${query}`, `${path}?${last}`];
}

/** The digest of the sort and the filters, and the key of the last row, in the cursor of a next page. */
function partsOfCursor(link: string): string[] {
  const cursor = new URL(/<([^>]+)>/.exec(link)![1]!, 'http://shop').searchParams.get('cursor')!;
  return JSON.parse(Buffer.from(cursor, 'base64url').toString());
}

/** The verdict is that of the worst combination of a list. */
function costFinding(
  path: string,
  { on, byCpu }: CostGoal,
  combinations: number,
  confirmed: readonly Confirmed[],
): Finding {
  const ratios = confirmed.map(({ query, pairs }) => ({
    query,
    latency: latencyRatio(pairs),
    cpu: cpuRatio(pairs),
    microseconds: medianOf(pairs, ({ a }) => a.latency.median),
  }));
  const worst = ratios.reduce((a, b) => (a.latency.median > b.latency.median ? a : b));
  const { latency, cpu } = worst;
  return {
    what:
      `${on}page of ${PAGE} at ${MANY_ROWS.toLocaleString('en')} rows / at ${FEW_ROWS.toLocaleString('en')}: ${path}, the worst of ` +
      `${combinations} combinations of filters and sorts`,
    target: `≤ ${AT_MOST} ×${byCpu ? '' : ' in latency'}`,
    measured: `CPU ${byCpu ? '' : 'without the database '}${showSpread(cpu, 2)}; latency ${showSpread(latency, 2)}`,
    absolute: `${decodeURIComponent(worst.query).slice(0, 120)}: ${worst.microseconds.toFixed(0)} µs; 1 connection`,
    verdict: verdictOf(latency.median <= AT_MOST && (!byCpu || cpu.median <= AT_MOST)),
  };
}
