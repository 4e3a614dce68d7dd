/** Rows that compare how many reads or writes of pets per second two servers process. */
import { startBackends } from '../harness/backends.ts';
import type { Bench, Effort, Row } from '../harness/bench.ts';
import { atLeast, type Finding, type Target } from '../harness/findings.ts';
import { captureResponse } from '../harness/http.ts';
import { CONNECTIONS } from '../harness/load-generator.ts';
import { compare, measurePairs, type Pair, ratioFinding } from '../harness/pairs.ts';
import {
  type ServiceSettings,
  startBareBackends,
  startBareHttp,
  startExpressStack,
  startService,
} from '../harness/servers.ts';
import { NEW_PET, openPeerShop, openShop, type Shop } from '../harness/shop.ts';

const GET = 'GET of one pet';
const POST = 'durable POST of a pet';
const PATCH = 'durable PATCH of a name';
/** A pet in the middle of the 1,000 that are read: its response is as long as nearly all others. On PostgreSQL the IDs can have gaps. */
const typicalPet = ({ petIds }: Shop) => `/pets/${petIds[petIds.length / 2]}`;

export const versusBareHttp: Row = {
  name: 'versus-bare-http',
  async measure(bench) {
    await using server = await startService();
    const shop = await openShop(server);
    await using bareGet = await startBareHttp(await captureResponse(shop, typicalPet(shop)));
    await using barePost = await startBareHttp(
      await captureResponse(shop, '/pets', NEW_PET(shop.categoryId)),
    );
    const what = 'bare `node:http` with the same bytes and headers';
    const decides = 'throughput and CPU';
    return [
      await compare(
        bench,
        { what: `${GET} / ${what}`, target: atLeast(' ×', 0.6, 0.75), decides },
        { name: 'service', server, requests: shop.readPet },
        { name: 'bare', server: bareGet, requests: shop.readPet },
      ),
      await compare(
        bench,
        { what: `${POST} / ${what}`, target: atLeast(' ×', 0.35, 0.5), decides },
        { name: 'service', server, requests: shop.createPet },
        { name: 'bare', server: barePost, requests: shop.createPet },
      ),
    ];
  },
};

export const groupCommit: Row = {
  name: 'group-commit',
  async measure(bench) {
    return [
      await compareServices(bench, 'createPet', {
        what: `${POST} / one commit per request`,
        target: atLeast(' ×', 7, 10),
        a: ['group commit', {}],
        b: ['commit per request', { env: { PETSTORE_WRITE_BATCH: '1' } }],
      }),
    ];
  },
};

export const postgresGroups: Row = {
  name: 'postgres-groups',
  async measure(bench) {
    const findings = [];
    const order = 'durable order of one unit, each of another pet';
    for (const [requests, operation, goal, connections] of [
      ['createPet', POST, 3, CONNECTIONS],
      ['createPet', `${POST} by a single client`, 0.95, 1],
      ['placeOrder', order, 2, CONNECTIONS],
      ['placeOrder', `${order}, by a single client`, 0.95, 1],
    ] as const) {
      await using together = await startBackends();
      await using alone = await startBackends();
      findings.push(
        await compareServices(bench, requests, {
          what: `PostgreSQL + Redis: ${operation} / one transaction per request`,
          target: atLeast(' ×', goal),
          a: ['groups', { env: together.env }],
          b: ['transaction per request', { env: { ...alone.env, PETSTORE_WRITE_BATCH: '1' } }],
          connections,
        }),
      );
    }
    return findings;
  },
};

/** A common stack of the same durability, in a separate process. */
export const expressStack: Row = {
  name: 'express-stack',
  async measure(bench) {
    await using server = await startService();
    await using express = await startExpressStack();
    const [ours, theirs] = [await openShop(server), await openPeerShop(express)];
    const versus = (operation: string, requests: 'readPet' | 'createPet', target: Target) =>
      compare(
        bench,
        { what: `${operation} / Express stack`, target },
        { name: 'service', server, requests: ours[requests] },
        { name: 'Express stack', server: express, requests: theirs[requests] },
      );
    return [
      await versus(GET, 'readPet', atLeast(' ×', 3.5, 5)),
      await versus(POST, 'createPet', atLeast(' ×', 8, 12)),
    ];
  },
};

/** A write may cost 15 % more with the event log. */
export const eventLogCost: Row = {
  name: 'event-log-cost',
  measure: bench => partCost(bench, 'event log', atLeast(' ×', 0.87)),
};

/** The embedded store seals events before their commit, PostgreSQL when it gives them their numbers. */
export const sealCost: Row = {
  name: 'seal-cost',
  measure: bench => partCost(bench, 'seals', atLeast(' ×', 0.97)),
};

/** A service needs some seconds under load until it is as fast as it becomes. The cost of a small part shows in many short runs. */
const OF_PARTS: Effort = { pairs: 8, seconds: 1, warmUpSeconds: 4 };
const PROCESSES = 5;

/** The history needs the values before a change, which its event stores. */
export const oldValuesCost: Row = {
  name: 'old-values-cost',
  measure: async bench => [
    await costOf(bench, 'old values', atLeast(' ×', 0.97), 'embedded store', [PATCH, 'changePet']),
  ],
};

type Part = 'event log' | 'seals' | 'old values';

/** Compares creations of pets while a part is on with those while it is off, on both stores. */
async function partCost(bench: Bench, part: Part, target: Target): Promise<Finding[]> {
  const operation = [POST, 'createPet'] as const;
  return [
    await costOf(bench, part, target, 'embedded store', operation),
    await costOf(bench, part, target, 'PostgreSQL + Redis', operation, startBackends),
  ];
}

/** Compares requests in the same processes. */
async function costOf(
  bench: Bench,
  part: Part,
  target: Target,
  store: string,
  [operation, requests]: readonly [string, 'createPet' | 'changePet'],
  startBelow?: typeof startBackends,
): Promise<Finding> {
  const pairs: Pair[] = [];
  for (let i = 0; i < PROCESSES; i++) {
    await using below = await startBelow?.();
    await using server = await startService({ env: { ...below?.env }, part });
    const load = { server, requests: (await openShop(server))[requests] };
    const [on, off] = [{ ...load, part: 'on' } as const, { ...load, part: 'off' } as const];
    pairs.push(...(await measurePairs({ ...bench, effort: OF_PARTS }, on, off)));
  }
  const what = `${store}: ${operation} with the ${part} / without`;
  return ratioFinding({ what, target }, ['with', 'without'], pairs);
}

export const scaledOut: Row = {
  name: 'scaled-out',
  async measure(bench) {
    await using backends = await startBackends();
    await using server = await startService({ env: backends.env });
    const shop = await openShop(server);
    await using bare = await startBareBackends(backends.env, {
      get: await captureResponse(shop, typicalPet(shop)),
      post: await captureResponse(shop, '/pets', NEW_PET(shop.categoryId)),
    });
    const versus = (operation: string, requests: string[]) =>
      compare(
        bench,
        {
          what: `PostgreSQL + Redis: ${operation} / bare \`node:http\` with the same calls to both`,
          target: atLeast(' ×', 0.85, 0.9),
        },
        { name: 'service', server, requests },
        { name: 'bare', server: bare, requests },
      );
    return [await versus(GET, shop.readPet), await versus(POST, shop.createPet)];
  },
};

/** Reads while one trace in a hundred is exported, and while all are. */
export const traceCost: Row = {
  name: 'trace-cost',
  async measure(bench) {
    // The collector accepts every export and ignores it.
    await using collector = await startBareHttp({ status: 200, headers: {}, body: '{}' });
    const cost = (ratio: number, goal: number) =>
      compareServices(bench, 'readPet', {
        what: `${GET} while ${ratio * 100} % of the traces are exported / while none are`,
        target: atLeast(' ×', goal),
        a: ['exporting', { env: exportTraces(collector.port, ratio) }],
        b: ['without', {}],
      });
    return [await cost(0.01, 0.85), await cost(1, 0.3)];
  },
};

function exportTraces(port: number, ratio: number): NodeJS.ProcessEnv {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: String(ratio),
  };
}

interface Services {
  what: string;
  target: Target;
  a: [name: string, settings: ServiceSettings];
  b: [name: string, settings: ServiceSettings];
  connections?: number;
}

/** Compares two services, each with a shop of its own. */
async function compareServices(
  bench: Bench,
  requests: 'readPet' | 'createPet' | 'placeOrder',
  { what, target, a, b, connections = CONNECTIONS }: Services,
): Promise<Finding> {
  await using serverA = await startService(a[1]);
  await using serverB = await startService(b[1]);
  return await compare(
    bench,
    { what, target },
    { name: a[0], server: serverA, requests: (await openShop(serverA))[requests], connections },
    { name: b[0], server: serverB, requests: (await openShop(serverB))[requests], connections },
  );
}
