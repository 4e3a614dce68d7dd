import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Endpoint } from '../harness/endpoint.ts';
import { post, requestText, send } from '../harness/http.ts';
import { residentMegabytes } from '../harness/process-stats.ts';
import { type Server, startService } from '../harness/servers.ts';
import { copyOf } from '../stores/filled-stores.ts';
import type { OldStore } from '../stores/history.ts';
import { exchange, rawRequest } from './exchange.ts';
import { type Hold, holdDuring, repeated, untilIdle } from './holds.ts';

/** How long background work is observed, in milliseconds. */
const OBSERVED_FOR = 3_000;
const CONNECTIONS = 50;
/** Few connections, so that the requests in one turn of the loop take less time than the measured work. */
const FEW_CONNECTIONS = 4;
export const STREAMS = 1_000;
/** The maximum number of bytes that are read from a connection in one turn of the loop. */
const READ_AT_ONCE = 64 * 1024;

/** Streams that search the whole log and find nothing, one alone and 20 at once, and requests that wait for events. */
export async function catchUpHolds(server: Server, { apiKey, ordinaryKey }: OldStore): Promise<Hold[]> {
  const streams = (target: string, count: number) => async () => {
    const { bytes } = rawRequest('GET', target, { apiKey: ordinaryKey });
    const sockets = Array.from({ length: count }, () => openSocket(server.port, bytes));
    await sleep(OBSERVED_FOR / 2);
    for (const socket of sockets) socket.destroy();
  };
  const page = (target: string) => () => exchange(server.port, rawRequest('GET', target, { apiKey }));
  const rare = '/events/stream?cursor=0&subject=categories/9';
  const kinds: [name: string, what: () => Promise<unknown>][] = [
    [`GET ${rare}`, streams(rare, 1)],
    ['GET /events/stream?cursor=0&type=order.*', streams('/events/stream?cursor=0&type=order.*', 1)],
    [`20 × GET ${rare}`, streams(rare, 20)],
    ['GET /events/stream?cursor=0', streams('/events/stream?cursor=0', 1)],
    ['GET /events?wait=1&subject=categories/9', page('/events?wait=1&subject=categories/9')],
    ['GET /events?wait=1&cursor=latest', page('/events?wait=1&cursor=latest')],
  ];
  return holdsInSequence(server, kinds, 3);
}

/** A change while `STREAMS` streams follow the log, and how much memory each of them takes. */
export async function streamHolds(
  server: Server,
  { apiKey }: OldStore,
): Promise<{ holds: Hold[]; details: string }> {
  const sockets: Socket[] = [];
  const before = residentMegabytes(server.pid);
  const { bytes } = rawRequest('GET', '/events/stream', { apiKey });
  while (sockets.length < STREAMS) {
    const opened = Array.from({ length: CONNECTIONS }, () => openSocket(server.port, bytes));
    await Promise.all(opened.map(socket => once(socket, 'data')));
    sockets.push(...opened);
  }
  const kilobytes = ((residentMegabytes(server.pid) - before) * 1_000) / STREAMS;
  let count = 0;
  const change = () => post({ port: server.port, apiKey }, '/categories', { name: `Changed ${++count}` });
  const times = await repeated(() => holdDuring(server, change, 200));
  for (const socket of sockets) socket.destroy();
  const holds = [{ name: `POST /categories with ${STREAMS} streams open`, times }];
  return { holds, details: `${kilobytes.toFixed(0)} kB of memory per stream` };
}

/** As many pipelined requests as fit into one read of a connection. */
export async function pipelineHolds(server: Server, { apiKey }: OldStore): Promise<Hold[]> {
  const pipeline =
    (target: string, headers = '') =>
    async () => {
      const request = `GET ${target} HTTP/1.1\r\nHost:x\r\n${headers}\r\n`;
      const socket = openSocket(server.port, request.repeat(Math.floor(READ_AT_ONCE / request.length)));
      await sleep(OBSERVED_FOR / 3);
      socket.destroy();
    };
  const key = `X-API-Key:${apiKey}\r\n`;
  const kinds: [name: string, what: () => Promise<unknown>][] = [
    ['64 KiB of GET /a', pipeline('/a')],
    ['64 KiB of GET /healthz', pipeline('/healthz')],
    ['64 KiB of GET /openapi.json', pipeline('/openapi.json')],
    ['64 KiB of GET /events?limit=100', pipeline('/events?limit=100', key)],
    ['64 KiB of GET /pets?limit=100', pipeline('/pets?limit=100', key)],
    ['64 KiB of GET /events?limit=1000', pipeline('/events?limit=1000', key)],
    ['64 KiB of GET /pets?limit=1000', pipeline('/pets?limit=1000', key)],
  ];
  return holdsInSequence(server, kinds, 3);
}

/** Every key sends a request, so that the counts of all keys are stored. */
export async function flushHolds(server: Server, { keys }: OldStore): Promise<Hold[]> {
  const useAll = async () => {
    const share = Math.ceil(keys.length / FEW_CONNECTIONS);
    const parts = Array.from({ length: FEW_CONNECTIONS }, (_, i) => keys.slice(i * share, (i + 1) * share));
    await Promise.all(parts.map(part => inTurn(server.port, part)));
  };
  return holdsInSequence(server, [[`counts of ${keys.length} keys`, useAll]], 3, OBSERVED_FOR / 2);
}

/** A new webhook, and the replay of the whole log to an endpoint that responds at once. */
export async function webhookHolds(server: Server, { apiKey }: OldStore): Promise<Hold[]> {
  await using endpoint = await Endpoint.start();
  const client = { port: server.port, apiKey };
  const [created, replayed, deleted]: number[][] = [[], [], []];
  for (let i = 0; i < 3; i++) {
    let path = '';
    const create = async () => {
      path = `/webhooks/${(await post<{ id: number }>(client, '/webhooks', { url: endpoint.url })).id}`;
    };
    const replay = async () => {
      await post(client, `${path}/replay`, { cursor: '0' });
      await sleep(OBSERVED_FOR);
    };
    created!.push(await holdDuring(server, create, 300));
    replayed!.push(await holdDuring(server, replay));
    deleted!.push(await holdDuring(server, () => send(client, 'DELETE', path), 300));
  }
  return [
    { name: 'replay of 1,000,000 events', times: replayed! },
    { name: 'POST /webhooks', times: created! },
    { name: 'DELETE /webhooks/{webhookId} during the replay', times: deleted! },
  ];
}

/** The time after the service starts to listen, on copies of a store in which everything has expired. */
export async function startHolds(store: OldStore): Promise<Hold[]> {
  const start = async () => {
    const { dataDirectory } = copyOf(store);
    await using server = await startService({ dataDirectory, preload: 'loop-probe' });
    await sleep(2 * OBSERVED_FOR);
    return server.requestProbe();
  };
  return [{ name: 'start on a store of expired data', times: await repeated(start, 3) }];
}

async function holdsInSequence(
  server: Server,
  kinds: readonly [name: string, what: () => Promise<unknown>][],
  times: number,
  settleFor?: number,
): Promise<Hold[]> {
  const holds: Hold[] = [];
  for (const [name, what] of kinds) {
    const measure = async () => {
      await untilIdle(server);
      return holdDuring(server, what, settleFor);
    };
    holds.push({ name, times: await repeated(measure, times) });
  }
  return holds;
}

function openSocket(port: number, bytes: string): Socket {
  const socket = connect(port, '127.0.0.1', () => socket.write(bytes, 'latin1'));
  // The service may close the connection: only the time matters here.
  return socket.on('error', () => {}).resume();
}

/** Sends one request with each key, one after another on one connection. */
async function inTurn(port: number, keys: readonly string[]): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  for (const key of keys) {
    socket.write(requestText('GET', '/pets/1', key));
    await once(socket, 'data');
  }
  socket.destroy();
}
