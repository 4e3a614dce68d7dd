import { encodeCursor } from '../../service/src/kit/paging.ts';
import { type Finding, medianOf, type Spread, showSpread, spread } from '../harness/findings.ts';
import { getRequest } from '../harness/http-requests.ts';
import type { LoadGenerator } from '../harness/load-generator.ts';
import { type Effort, measurePairs, type Pair } from '../harness/pairs.ts';
import type { Server } from '../harness/servers.ts';

export const MANY = 1_000_000;
export const FEW = 1_000;
const PAGE = 20;
const AT_MOST = 1.3;
/** Different deep pages, so that what is read is not always in a cache. */
const DEEP_PAGES = 500;
/** A prime that divides no power of ten: with it the order of names is not that of IDs. */
export const STRIDE = 7919;

/** A server with a store of `MANY` or `FEW` pets: `nameAt(i * STRIDE % pets)`, every other one sold. */
export interface FilledServer {
  server: Server;
  apiKey: string;
}

export interface CostGoal {
  /** Where the pets are, as a line of the table begins. */
  on: string;
  /** Whether the server's CPU time must keep to the goal, too. Where a database does part of the work it tells little. */
  byCpu: boolean;
}

/** What pages cost at many pets, against few: the first page, and deep ones of several lists. */
export async function measurePages(
  generator: LoadGenerator,
  effort: Effort,
  goal: CostGoal,
  many: FilledServer,
  few: FilledServer,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { what, paths } of listings) {
    const side = async ({ server, apiKey }: FilledServer, pets: number) => {
      await expectFullPages(server, paths(pets), apiKey);
      const requests = paths(pets).map(path => getRequest(path, apiKey));
      return { server, requests, expectedStatus: 200, connections: 1 };
    };
    const pairs = await measurePairs(generator, effort, await side(many, MANY), await side(few, FEW));
    findings.push(costFinding(what, goal, pairs));
  }
  return findings;
}

const listings: { what: string; paths: (pets: number) => string[] }[] = [
  { what: 'first page', paths: () => [`/pets?limit=${PAGE}`] },
  {
    what: 'deep page',
    paths: pets => deepPlaces(pets).map(place => `/pets?limit=${PAGE}&cursor=${encodeCursor('id', [place])}`),
  },
  {
    what: 'deep page of one status, sorted by name',
    paths: pets =>
      deepPlaces(pets).map(place => {
        const cursor = encodeCursor('name', [nameAt(place).toLowerCase(), 0]);
        return `/pets?limit=${PAGE}&status=sold&sort=name&cursor=${cursor}`;
      }),
  },
];

/** Places in a list of `pets`, spread over its second half and with full pages after each of them. */
function deepPlaces(pets: number): number[] {
  return Array.from({ length: DEEP_PAGES }, (_, i) => Math.floor(pets * (0.5 + (0.4 * i) / DEEP_PAGES)));
}

/** Each pet is called by the first, and its place in the list sorted by name in so many digits. */
export const NAME = 'Bella ';
export const DIGITS = 7;

export function nameAt(place: number): string {
  return `${NAME}${String(place).padStart(DIGITS, '0')}`;
}

/** An empty page would be a cheap one. */
async function expectFullPages(server: Server, paths: string[], apiKey: string): Promise<void> {
  for (const path of [paths[0]!, paths.at(-1)!]) {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
      headers: { 'X-API-Key': apiKey },
    });
    const page = (await response.json()) as unknown[];
    if (page.length !== PAGE) throw new Error(`${path}: ${response.status}, ${JSON.stringify(page)}`);
  }
}

function costFinding(what: string, { on, byCpu }: CostGoal, pairs: Pair[]): Finding {
  const cpu = spread(pairs.map(({ a, b }) => a.serverCpuPerRequest / b.serverCpuPerRequest));
  const latency = spread(pairs.map(({ a, b }) => a.latency.median / b.latency.median));
  const side = (pets: number, which: 'a' | 'b') => {
    const cpuMicroseconds = medianOf(pairs, pair => pair[which].serverCpuPerRequest).toFixed(0);
    const latencyMicroseconds = medianOf(pairs, pair => pair[which].latency.median).toFixed(0);
    return `${pets.toLocaleString('en')}: ${cpuMicroseconds} µs CPU, answered in ${latencyMicroseconds} µs`;
  };
  const keeps = ({ median }: Spread) => median <= AT_MOST;
  return {
    what: `${on}page of ${PAGE} at ${MANY.toLocaleString('en')} pets / at ${FEW.toLocaleString('en')}: ${what}`,
    target: `≤ ${AT_MOST} ×${byCpu ? '' : ' in latency'}`,
    measured: `CPU ${byCpu ? '' : 'without the database '}${showSpread(cpu, 2)}; latency ${showSpread(latency, 2)}`,
    absolute: `${side(MANY, 'a')}; ${side(FEW, 'b')}; 1 connection`,
    met: keeps(latency) && (!byCpu || keeps(cpu)),
  };
}
