import { setTimeout as sleep } from 'node:timers/promises';
import type { Finding } from '../harness/findings.ts';
import { type Server, startService } from '../harness/servers.ts';
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
import { type FilledStore, fillExpiredStore, fillStore } from '../worst-request/fill-store.ts';
import { type Hold, holdDuring, holdFinding, holdsOf, untilIdle } from '../worst-request/holds.ts';
import { hostileRequests } from '../worst-request/hostile-requests.ts';
import { deepPage, type ListRequest, listRequests } from '../worst-request/list-requests.ts';
import { longNameFindings } from '../worst-request/long-names.ts';
import type { Row } from './row.ts';

/** How long the worst requests of each kind block the event loop, at 1,000,000 pets and 1,000,000 events. */
export const worstRequest: Row = {
  name: 'worst-request',
  async measure() {
    const store = await fillStore();
    const findings: Finding[] = [];
    {
      await using server = await startService({
        dataDirectory: store.dataDirectory,
        streamsPerKey: STREAMS,
        privateWebhooks: true,
        preload: 'loop-probe',
      });
      await untilIdle(server);
      const idle = await holdDuring(server, () => sleep(500));
      findings.push(
        holdFinding(
          'first request for a document',
          await holdsOf(server, documentRequests(store), { worst: 0 }),
        ),
        holdFinding('later requests for documents', await holdsOf(server, documentRequests(store))),
        holdFinding(
          'hostile paths, queries, headers and bodies',
          await holdsOf(server, hostileRequests(store.apiKey)),
          `an idle service ${idle.toFixed(1)} ms`,
        ),
      );
      findings.push(holdFinding('pipelined requests', await pipelineHolds(server, store)));
      findings.push(holdFinding('counts of keys', await flushHolds(server, store)));
      findings.push(holdFinding('catching up with the event log', await catchUpHolds(server, store)));
      findings.push(holdFinding('event streams', await streamHolds(server, store)));
      findings.push(holdFinding('webhooks', await webhookHolds(server, store)));
      const { holds, details } = await listHolds(server, store);
      findings.push(holdFinding('lists with every filter and sort', holds, details));
    }
    findings.push(holdFinding('sweeps at start', await startHolds(await fillExpiredStore())));
    findings.push(...(await longNameFindings()));
    return findings;
  },
};

/** Requests for documents that the service generates or loads at the first request, and for data of keys. */
function documentRequests({ apiKey }: FilledStore): RawRequest[] {
  const targets = [
    '/docs',
    '/docs/guide',
    '/openapi.json',
    '/openapi.yaml',
    '/account',
    '/keys?limit=100',
    '/keys/1/usage',
    '/readyz',
  ];
  return targets.map(target => rawRequest('GET', target, { apiKey }));
}

/** Every first page, and a deep page of each list that has one. */
async function listHolds(server: Server, store: FilledStore): Promise<{ holds: Hold[]; details: string }> {
  const deep: ListRequest[] = [];
  const invalid = new Set<string>();
  const look = (request: ListRequest, { status, head }: RawResponse) => {
    if (status === 400) invalid.add(request.name);
    else if (status !== 200) throw new Error(`${request.name}: ${head}`);
    const page = status === 200 ? deepPage(request, head, store) : undefined;
    if (page) deep.push(page);
  };
  const first = await holdsOf(server, listRequests(store), { look });
  const rejected = invalid.size;
  const further = await holdsOf(server, deep, {
    look: ({ name }, { status }) => {
      if (status !== 200) invalid.add(name);
    },
  });
  const holds = [...first, ...further].filter(({ name }) => !invalid.has(name));
  return { holds, details: `${rejected} combinations and ${invalid.size - rejected} deep pages return 400` };
}
