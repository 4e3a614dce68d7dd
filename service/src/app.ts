import type { FastifyInstance } from 'fastify';
import type { DestinationStream, Logger } from 'pino';
import * as apiKeys from './access/api-keys/api-keys.ts';
import { KeyRing } from './access/api-keys/key-ring.ts';
import { readStandings } from './access/api-keys/standings.ts';
import { KeyLimits } from './access/rate-limits/key-limits.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { Writability } from './db/writability.ts';
import { appendEvent } from './events/event-log/append.ts';
import { EventTail } from './events/event-log/event-tail.ts';
import { RESPONSE_TIMEOUT } from './events/webhooks/attempt.ts';
import { readBacklog } from './events/webhooks/backlog.ts';
import { WebhookDispatcher } from './events/webhooks/dispatcher.ts';
import { Endpoints, type Resolve } from './events/webhooks/endpoints.ts';
import { resolveByServers, resolveLocally } from './events/webhooks/resolve.ts';
import { featuresOf, routesOf } from './features.ts';
import { Drain } from './http/drain.ts';
import { EventStreams } from './http/event-streams.ts';
import { ExcessLog } from './http/excess-log.ts';
import { Idempotency } from './http/idempotency.ts';
import { buildDocument } from './http/openapi/build.ts';
import { ContractDocument } from './http/openapi/document.ts';
import { OutageLog } from './http/outage-log.ts';
import { RequestLog } from './http/request-log.ts';
import { buildServer, type Timeouts } from './http/server.ts';
import { TrustedProxies } from './kit/client-address.ts';
import { type Clock, MINUTE, SECOND, systemClock } from './kit/clock.ts';
import type { LogPace } from './kit/log-pace.ts';
import { Sweeper } from './kit/sweeper.ts';
import { openObservers } from './observers.ts';
import type { OpsServer } from './ops/ops-server.ts';
import { openStores } from './stores.ts';

/** What tests put in the place of the real thing. */
export interface Overrides {
  clock?: Clock;
  logDestination?: DestinationStream;
  /** Milliseconds between two signs of life of a stream. */
  heartbeat?: number;
  timeouts?: Partial<Timeouts>;
  webhooks?: {
    resolve?: Resolve;
    timeout?: number;
    patience?: number;
    random?: () => number;
  };
}

export interface App {
  config: Config;
  db: Database;
  log: Logger;
  clock: Clock;
  server: FastifyInstance;
  drain: Drain;
  keyRing: KeyRing;
  keyLimits: KeyLimits;
  /** Shows the metrics; `undefined` when no port is set for it. */
  ops: OpsServer | undefined;
  tail: EventTail;
  endpoints: Endpoints;
  dispatcher: WebhookDispatcher;
  sweeper: Sweeper;
  /** Makes the administrator's key if the store has no key; `keep` is handed its secret before it counts. */
  createFirstKey(keep: (secret: string) => void): Promise<boolean>;
  /** Writes the last log lines. To be called when the process exits: it waits up to a second for a slow reader. */
  endLog(): void;
  /** Stops accepting, answers what is in flight, and closes the store. */
  close(): Promise<void>;
}

/** How often what has expired is deleted, in milliseconds. */
const SWEEP_INTERVAL = MINUTE;

/** How often counts are kept, in milliseconds: with the time that it takes, a crash forgets no more than a second. */
const FLUSH_INTERVAL = 800;

/** The same with Redis: what a crash forgets here is there. */
const SHARED_FLUSH_INTERVAL = 5 * SECOND;

/** How long attempts under way are waited for at the end, in milliseconds: what is broken off is sent again. */
const WEBHOOK_TIMEOUT = 2 * SECOND;

/** Puts the service together: opens the store and brings its schema up to date. It does not listen yet. */
export async function buildApp(
  config: Config,
  { clock = systemClock, logDestination, heartbeat, timeouts, webhooks = {} }: Overrides = {},
): Promise<App> {
  // What is opened later is closed earlier; when closing one thing fails, the others are closed all the same, and the failure is thrown at the end.
  await using opened = new AsyncDisposableStack();
  const { log, lineBuffer, destination, ops, metrics, tracing } = await openObservers(
    config,
    logDestination,
    opened,
  );
  const { db, counters } = await openStores(config, { clock, log, metrics, tracing }, opened);
  const writability = new Writability(db, clock);
  const outageLog = new OutageLog(log, clock, writability.note);
  const excessLog = new ExcessLog(log, clock);
  opened.defer(paceOf(excessLog.pace, outageLog.pace));
  const keyRing = new KeyRing(db, config.banRules);
  const keyLimits = new KeyLimits({
    db,
    counters,
    banRules: config.banRules,
    onBan: (keyId, ban) => {
      log.warn({ keyId, ...ban }, 'API key banned');
      metrics?.onBan();
      db.write(async tx => appendEvent(tx, 'key.banned', keyId, ban)).catch(error =>
        log.error({ err: error, keyId }, 'The event of a ban could not be stored'),
      );
    },
  });
  const idempotency = new Idempotency(db);
  const tail = new EventTail(db, error =>
    outageLog.writeTask('events', error, 'Events could not be read; trying again'),
  );
  const streams = new EventStreams({
    mostPerKey: config.streamsPerKey,
    heartbeat,
    findCaller: key => keyRing.find(key, clock.now()),
    onDrop: (reader, reason) => log.warn({ ...reader, reason }, 'Stream dropped'),
  });
  const { resolve = config.privateWebhooks ? resolveLocally : resolveByServers(), ...timing } = webhooks;
  const endpoints = new Endpoints({ resolve, allowPrivate: config.privateWebhooks });
  const dispatcher = new WebhookDispatcher({
    db,
    tail,
    clock,
    endpoints,
    timeout: RESPONSE_TIMEOUT,
    patience: WEBHOOK_TIMEOUT,
    random: Math.random,
    ...timing,
    connections: { total: config.webhookConnections, perHost: config.webhookConnectionsPerHost },
    readStandings,
    tracing,
    onDisabled: (webhookId, reason, traceId) => log.warn({ webhookId, reason, traceId }, 'Webhook disabled'),
    onAttempt: result => metrics?.onWebhookAttempt(result),
    onError: error => outageLog.writeTask('webhooks', error, 'Webhooks could not be served; trying again'),
  });
  const drain = new Drain();
  const contract = new ContractDocument(() => buildDocument(routes));

  const features = featuresOf({
    db,
    clock,
    keyLimits,
    flushInterval: config.redisUrls.length === 0 ? FLUSH_INTERVAL : SHARED_FLUSH_INTERVAL,
    onFlushError: error => outageLog.writeTask('counts', error, 'Counts could not be stored; trying again'),
    tail,
    endpoints,
    dispatcher,
    readStandings,
    webhooksPerKey: config.webhooksPerKey,
    eventDays: config.eventDays,
    idempotency,
    contract,
    counters,
    writability,
    drain,
  });
  const routes = routesOf(features);
  for (const feature of features) opened.defer(() => feature.close?.());
  const sweeper = new Sweeper({
    sweeps: Object.fromEntries(features.flatMap(({ sweeps = {} }) => Object.entries(sweeps))),
    clock,
    onError: (name, error) =>
      outageLog.writeTask(`sweep of ${name}`, error, `Sweep of ${name} failed; trying again`),
  });
  opened.defer(() => sweeper.close());
  const server = buildServer({
    routes,
    contract,
    db,
    keyRing,
    keyLimits,
    counters,
    idempotency,
    streams,
    drain,
    clock,
    trustedProxies: new TrustedProxies(config.trustedProxies),
    log,
    outageLog,
    requestLog: new RequestLog(destination, log.isLevelEnabled('info'), metrics?.onResponse),
    onDecision: metrics?.onDecision,
    tracing,
    connections: { total: config.connections, perAddress: config.connectionsPerAddress },
    onExcessConnection: (address, limit) => {
      excessLog.write(address, limit);
      metrics?.onExcessConnection(limit);
    },
    keepSunset: config.keepSunset,
    timeouts,
  });
  opened.defer(() => server.close());
  server.addHook('onReady', async () => {
    await counters.open();
    for (const feature of features) await feature.start?.();
    sweeper.start(SWEEP_INTERVAL);
  });
  if (tracing) metrics?.watchTraces(() => tracing.dropped);
  metrics?.watch({
    server: server.server,
    db,
    limitsStatus: () => counters.status(),
    streams,
    sweeper,
    webhookBacklog: () => readBacklog(db, clock.now()),
    logLinesLost: () => lineBuffer.lost,
  });

  const closing = opened.move();
  return {
    config,
    db,
    log,
    clock,
    server,
    drain,
    keyRing,
    keyLimits,
    ops,
    tail,
    endpoints,
    dispatcher,
    sweeper,
    createFirstKey: keep => apiKeys.createFirst({ db, keyLimits, now: clock.now() }, keep),
    endLog: () => lineBuffer.end(),
    close: () => closing.disposeAsync(),
  };
}

/** Has the logs of a limited pace write each second what they held back. Returns what ends that, and writes the rest. */
function paceOf(...paces: readonly LogPace[]): () => void {
  const timer = setInterval(() => {
    for (const pace of paces) pace.tick();
  }, SECOND);
  timer.unref();
  return () => {
    clearInterval(timer);
    for (const pace of paces) pace.flush();
  };
}
