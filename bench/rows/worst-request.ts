import { setTimeout as sleep } from 'node:timers/promises';
import { pageLimit } from '../../service/src/contract/schema.ts';
import type { Row } from '../harness/bench.ts';
import type { Finding } from '../harness/findings.ts';
import { type Server, startService } from '../harness/servers.ts';
import { expiredStore, largeStore, type OldStore } from '../stores/history.ts';
import { lastPage, lists, readLink, shortened } from '../stores/list-targets.ts';
import {
  catchUpHolds,
  flushHolds,
  pipelineHolds,
  STREAMS,
  startHolds,
  streamHolds,
  webhookHolds,
} from '../worst-request/background-work.ts';
import { type RawRequest, type RawResponse, rawRequest } from '../worst-request/exchange.ts';
import { holdDuring, holdFinding, holdsOf, untilIdle } from '../worst-request/holds.ts';
import { hostileRequests } from '../worst-request/hostile-requests.ts';
import { searchFindings } from '../worst-request/searches.ts';

/** How long the worst requests of each kind block the event loop, at 1,000,000 pets and 1,000,000 events. */
export const worstRequest: Row = {
  name: 'worst-request',
  measure: async ({ stores }) => [
    ...(await requestFindings(await largeStore(stores))),
    holdFinding('sweeps at start', await startHolds(await expiredStore())),
  ],
};

async function requestFindings(store: OldStore): Promise<Finding[]> {
  await using server = await startService({
    ...store,
    env: { PETSTORE_STREAMS_PER_KEY: String(STREAMS), PETSTORE_WEBHOOKS_ALLOW_PRIVATE: 'true' },
    preload: 'loop-probe',
  });
  await untilIdle(server);
  const idle = (await holdDuring(server, () => sleep(500))).toFixed(1);
  const documents = documentRequests(store);
  const first = await holdsOf(server, documents, { worst: 0 });
  const hostile = await holdsOf(server, hostileRequests(store.apiKey));
  const streams = await streamHolds(server, store);
  return [
    holdFinding('first request for a document', first),
    holdFinding('later requests for documents', await holdsOf(server, documents)),
    holdFinding('hostile paths, queries, headers and bodies', hostile, `an idle service ${idle} ms`),
    holdFinding('pipelined requests', await pipelineHolds(server, store)),
    holdFinding('counts of keys', await flushHolds(server, store)),
    holdFinding('catching up with the event log', await catchUpHolds(server, store)),
    holdFinding('event streams', streams.holds, streams.details),
    holdFinding('webhooks', await webhookHolds(server, store)),
    await listFinding(server, store),
    ...(await searchFindings(server, {
      port: server.port,
      apiKey: store.ordinaryKey,
      categoryId: store.categoryId,
    })),
  ];
}

/** Requests for documents that the service generates or loads at the first request, and for data of keys. */
function documentRequests({ apiKey }: OldStore): RawRequest[] {
  const targets = [
    '/docs',
    '/docs/guide',
    '/openapi.json',
    '/openapi.yaml',
    '/account',
    '/keys?limit=1000',
    '/keys/1/usage',
    '/readyz',
  ];
  return targets.map(target => rawRequest('GET', target, { apiKey }));
}

interface ListRequest extends RawRequest {
  target: string;
  apiKey: string;
}

/** The first page and the count of every combination of filters and sorts of every list, and the last page of each that has several. */
async function listFinding(server: Server, store: OldStore): Promise<Finding> {
  const accepted = new Set<ListRequest>();
  const look = (request: ListRequest, { status, head }: RawResponse) => {
    if (status === 200) accepted.add(request);
    else if (status !== 400) throw new Error(`${request.name}: ${head}`);
  };
  const requests = listRequests(store);
  const first = await holdsOf(server, requests, { look });
  const last: ListRequest[] = [];
  for (const { target, apiKey } of accepted) {
    const page = await lastPage(readLink({ port: server.port, apiKey }), target);
    if (page !== undefined) last.push(listRequest(page, apiKey, store));
  }
  const holds = await holdsOf(server, last, {
    look: ({ name }, { status, head }) => {
      if (status !== 200) throw new Error(`${name}: ${head}`);
    },
  });
  const details = `${last.length} of them last pages; ${requests.length - accepted.size} combinations return 400`;
  const ofAccepted = first.filter((_, i) => accepted.has(requests[i]!));
  return holdFinding('lists with every filter and sort', [...ofAccepted, ...holds], details);
}

function listRequests(store: OldStore): ListRequest[] {
  const { apiKey, ordinaryKey, webhookId } = store;
  return lists().flatMap(({ path, queries }) => {
    // Only lists of webhooks depend on whether the key is an administrator's.
    const keys = path.startsWith('/webhooks') ? [apiKey, ordinaryKey] : [apiKey];
    const template = path.replace(/\{\w+\}/, String(webhookId));
    return queries.flatMap(query => {
      const target = `${template}?limit=${pageLimit.maximum}&count=true&${query}`;
      return keys.map(key => listRequest(target, key, store));
    });
  });
}

function listRequest(target: string, apiKey: string, { ordinaryKey }: OldStore): ListRequest {
  const name = `GET ${shortened(target)}${apiKey === ordinaryKey ? ' (ordinary key)' : ''}`;
  return { ...rawRequest('GET', target, { apiKey }), name, target, apiKey };
}
