import { join } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { encodeCursor } from '../../service/src/kit/paging.ts';
import { type Finding, medianOf, showSpread, spread } from '../harness/findings.ts';
import { getRequest } from '../harness/http-requests.ts';
import { measurePairs, type Pair } from '../harness/pairs.ts';
import { type Server, startService } from '../harness/servers.ts';
import { type Access, prepareService } from '../harness/shop.ts';
import type { Row } from './row.ts';

const MANY = 1_000_000;
const FEW = 1_000;
const PAGE = 20;
const AT_MOST = 1.3;
/** Different deep pages, so that what is read is not always in SQLite's cache. */
const DEEP_PAGES = 500;

export const pageCost: Row = {
  name: 'page-cost',
  async measure(generator, effort) {
    const many = await fillStore(MANY);
    const few = await fillStore(FEW);
    await using manyServer = await startService(many);
    await using fewServer = await startService(few);

    const findings: Finding[] = [];
    for (const { what, paths } of listings) {
      const side = async (server: Server, { apiKey }: Access, pets: number) => {
        await expectFullPages(server, paths(pets), apiKey);
        return {
          server,
          requests: paths(pets).map(path => getRequest(path, apiKey)),
          expectedStatus: 200,
          connections: 1,
        };
      };
      const a = await side(manyServer, many, MANY);
      const b = await side(fewServer, few, FEW);
      findings.push(costFinding(what, await measurePairs(generator, effort, a, b)));
    }
    return findings;
  },
};

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

/** The name of the pet at a place in the list sorted by name. */
function nameAt(place: number): string {
  return `Bella ${String(place).padStart(7, '0')}`;
}

/** Writes the pets into the file of a stopped service: a million through the API would take longer than the bench. */
async function fillStore(pets: number): Promise<Access & { dataDirectory: string }> {
  const { access, dataDirectory } = await emptyStore();
  const db = new BetterSqlite3(join(dataDirectory, 'petstore.db'));
  const insert = db.prepare(
    'INSERT INTO pets (name, name_key, category_id, status, quantity) VALUES (?, ?, ?, ?, ?)',
  );
  db.transaction(() => {
    for (let i = 0; i < pets; i++) {
      // A prime that divides no power of ten: the order of names is not that of IDs.
      const name = nameAt((i * 7919) % pets);
      const [status, quantity] = i % 2 === 0 ? ['sold', 0] : ['available', 1];
      insert.run(name, name.toLowerCase(), access.categoryId, status, quantity);
    }
  })();
  db.close();
  return { ...access, dataDirectory };
}

async function emptyStore() {
  await using server = await startService();
  return { access: await prepareService(server), dataDirectory: server.dataDirectory };
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

function costFinding(what: string, pairs: Pair[]): Finding {
  const cpu = spread(pairs.map(({ a, b }) => a.serverCpuPerRequest / b.serverCpuPerRequest));
  const latency = spread(pairs.map(({ a, b }) => a.latency.median / b.latency.median));
  const side = (pets: number, which: 'a' | 'b') => {
    const cpuMicroseconds = medianOf(pairs, pair => pair[which].serverCpuPerRequest).toFixed(0);
    const latencyMicroseconds = medianOf(pairs, pair => pair[which].latency.median).toFixed(0);
    return `${pets.toLocaleString('en')}: ${cpuMicroseconds} µs CPU, answered in ${latencyMicroseconds} µs`;
  };
  return {
    what: `page of ${PAGE} at ${MANY.toLocaleString('en')} pets / at ${FEW.toLocaleString('en')}: ${what}`,
    target: `≤ ${AT_MOST} ×`,
    measured: `CPU ${showSpread(cpu, 2)}; latency ${showSpread(latency, 2)}`,
    absolute: `${side(MANY, 'a')}; ${side(FEW, 'b')}; 1 connection`,
    met: cpu.median <= AT_MOST && latency.median <= AT_MOST,
  };
}
