import type { FastifyInstance } from 'fastify';
import type { DestinationStream, Logger } from 'pino';
import { createFirstKey, signIn } from './access/api-keys/administrator-keys.ts';
import { AllowedOrigins } from './access/api-keys/allowed-origins.ts';
import { selectNames } from './access/api-keys/api-key-queries.ts';
import { appendBan } from './access/api-keys/key-events.ts';
import { KeyRing } from './access/api-keys/key-ring.ts';
import { selectActiveOrigin } from './access/api-keys/origin-queries.ts';
import { readStandings } from './access/api-keys/standings.ts';
import { KeyLimits } from './access/rate-limits/key-limits.ts';
import { isAdministration, Rejections } from './access/rejections/rejections.ts';
import type { Config } from './config.ts';
import type { Database } from './db/database.ts';
import { Writability } from './db/writability.ts';
import { Checkpoints } from './events/checkpoints.ts';
import { EventTail } from './events/event-log/event-tail.ts';
import { RESPONSE_TIMEOUT } from './events/webhooks/delivery-rules.ts';
import { WebhookDispatcher } from './events/webhooks/dispatcher.ts';
import { Endpoints, type Resolve } from './events/webhooks/endpoints.ts';
import { resolveByServers, resolveLocally } from './events/webhooks/resolve.ts';
import { readBacklog } from './events/webhooks/webhook-queries.ts';
import { featuresOf, routesOf } from './features.ts';
import { Drain } from './http/drain.ts';
import { EventStreams } from './http/event-streams.ts';
import { ExcessLog } from './http/excess-log.ts';
import { Idempotency } from './http/idempotency.ts';
import { buildDocument } from './http/openapi/build.ts';
import { ContractDocument } from './http/openapi/document.ts';
import { OutageLog } from './http/outage-log.ts';
import { OwedResponses } from './http/owed-responses.ts';
import { RequestLog } from './http/request-log.ts';
import { buildServer, type Timeouts } from './http/server.ts';
import { TrustedProxies } from './kit/client-address.ts';
import { type Clock, MINUTE, SECOND, systemClock } from './kit/clock.ts';
import { tickPaces } from './kit/log-pace.ts';
import { Sweeper } from './kit/sweeper.ts';
import { openObservers } from './observers.ts';
import type { OpsServer } from './ops/ops-server.ts';
import { Problems } from './problems.ts';
import { openStores } from './stores.ts';

/** Test overrides. */
export interface Overrides {
  clock?: Clock;
  logDestination?: DestinationStream;
  /** Milliseconds between two heartbeats of a stream. */
  heartbeat?: number;
  timeouts?: Partial<Timeouts>;
  /** How long a response of Redis may take, in milliseconds. */
  redisTimeout?: number;
  /** Whether the service runs with the demo shop. */
  isDemo?: boolean;
  webhooks?: {
    resolve?: Resolve | undefined;
    resolveTimeout?: number;
    timeout?: number;
    shutdownTimeout?: number;
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
  /** Serves the metrics; `undefined` when no port is set for it. */
  ops: OpsServer | undefined;
  tail: EventTail;
  endpoints: Endpoints;
  dispatcher: WebhookDispatcher;
  sweeper: Sweeper;
  /** Creates the administrator's key if the store has no key. `storeSecret` gets its secret before the key is committed. */
  createFirstKey(storeSecret: (secret: string) => void): Promise<boolean>;
  /** Writes the last log lines. Call it when the process exits: it waits up to a second for a slow reader. */
  endLog(): void;
  /** Stops listening, finishes requests in flight, and closes the store. */
  close(): Promise<void>;
}

/** The interval between sweeps of expired data, in milliseconds. */
const SWEEP_INTERVAL = MINUTE;

/** The interval at which counts are stored, in milliseconds: including the time to store them, a crash loses at most a second. */
const FLUSH_INTERVAL = 800;

/** The same with Redis, which has the counts that a crash would lose here. */
const SHARED_FLUSH_INTERVAL = 5 * SECOND;

/** How long shutdown waits for running webhook attempts, in milliseconds: aborted ones are sent again later. */
const WEBHOOK_TIMEOUT = 2 * SECOND;

/** Builds the service: opens the store and migrates its schema. It does not listen yet. */
export async function buildApp(
  config: Config,
  {
    clock = systemClock,
    logDestination,
    heartbeat,
    timeouts,
    redisTimeout,
    isDemo = false,
    webhooks = {},
  }: Overrides = {},
): Promise<App> {
  // Closes everything in reverse order. If one part fails to close, the others are still closed, and the failure is thrown at the end.
  await using opened = new AsyncDisposableStack();
  const { log, lineBuffer, requestLines, ops, metrics, tracing } = await openObservers(
    config,
    logDestination,
    opened,
  );
  const { db, counters } = await openStores(config, { clock, redisTimeout, log, metrics, tracing }, opened);
  const writability = new Writability(db, clock);
  const problems = new Problems(writability, counters);
  const outageLog = new OutageLog(log, clock, writability.note);
  const excessLog = new ExcessLog(log, clock);
  opened.defer(tickPaces(excessLog.pace, outageLog.pace));
  const checkpoints = new Checkpoints(db, {
    onCheckpoint: checkpoint => log.info({ checkpoint }, 'Checkpoint of the event log'),
    onError: error =>
      outageLog.writeTask('checkpoints', error, 'The checkpoint of the event log could not be read'),
  });
  // It closes after the features, which append events until they are closed.
  opened.defer(() => checkpoints.close());
  const keyRing = new KeyRing(db, config.banRules);
  const allowedOrigins = new AllowedOrigins(db, {
    read: (origin, now) => selectActiveOrigin(db, origin, now),
    onError: error =>
      outageLog.writeTask('origins', error, 'An origin could not be read; using the last result'),
  });
  const keyLimits = new KeyLimits({
    db,
    counters,
    banRules: config.banRules,
    onBan: (keyId, ban) => {
      log.warn({ keyId, ...ban }, 'API key banned');
      metrics?.onBan();
      db.write(tx => appendBan(tx, keyId, ban)).catch(error =>
        outageLog.writeTask('bans', error, 'The event of a ban could not be stored'),
      );
    },
  });
  const idempotency = new Idempotency(db);
  const tail = new EventTail(db, {
    onError: error => outageLog.writeTask('events', error, 'Events could not be read; trying again'),
    onTakenBack: (read, latest) =>
      log.error(
        { read, latest },
        'The database was returned to an earlier state: the event log ends before an event that was read. If no line states ' +
          'that it continues in a new range, run `continue-log`',
      ),
  });
  const trustedProxies = new TrustedProxies(config.trustedProxies);
  const streams = new EventStreams({
    mostPerKey: config.streamsPerKey,
    heartbeat,
    findCaller: key => keyRing.find(key, clock.now()),
    findStoredCaller: key => keyRing.findStored(key, clock.now()),
    onDrop: (reader, reason) => log.warn({ ...reader, reason }, 'Stream dropped'),
  });
  const allowPrivate = config.privateWebhooks;
  const {
    resolve = allowPrivate ? resolveLocally : resolveByServers(),
    resolveTimeout,
    ...timing
  } = webhooks;
  const endpoints = new Endpoints({ resolve, allowPrivate, resolveTimeout });
  const dispatcher = new WebhookDispatcher({
    db,
    tail,
    clock,
    endpoints,
    timeout: RESPONSE_TIMEOUT,
    shutdownTimeout: WEBHOOK_TIMEOUT,
    random: Math.random,
    ...timing,
    connections: { total: config.webhookConnections, perHost: config.webhookConnectionsPerHost },
    readStandings,
    source: config.publicUrl,
    tracing,
    onDisabled: (webhookId, disabled) => log.warn({ webhookId, ...disabled }, 'Webhook disabled'),
    onTurn: (webhookId, { fails, ...turn }) =>
      log.warn({ webhookId, ...turn }, fails ? 'Webhook fails' : 'Webhook works again'),
    onAttempt: result => metrics?.onWebhookAttempt(result),
    onError: error => outageLog.writeTask('webhooks', error, 'Webhooks could not be served; trying again'),
  });
  const drain = new Drain();
  const owed = new OwedResponses();
  const rejections = new Rejections();
  const redeemTicket = (ticket: string) => signIn({ db, keyLimits, now: clock.now() }, ticket);
  const contract = new ContractDocument(() => buildDocument(routes), config.publicUrl);

  const features = featuresOf({
    db,
    clock,
    keyLimits,
    onLate: error =>
      outageLog.writeTask('search words', error, 'Words of a batch could not be stored; a sweep stores them'),
    flushInterval: config.redisUrls.length === 0 ? FLUSH_INTERVAL : SHARED_FLUSH_INTERVAL,
    rejections,
    onlyReports: config.leakedKeys === 'report',
    onFlushError: error => outageLog.writeTask('counts', error, 'Counts could not be stored; trying again'),
    tail,
    endpoints,
    dispatcher,
    readStandings,
    source: config.publicUrl,
    webhooksPerKey: config.webhooksPerKey,
    eventDays: config.eventDays,
    readKeyNames: selectNames,
    checkpoints,
    idempotency,
    contract,
    problems,
    drain,
  });
  const routes = routesOf(features);
  const administration = new Set<string | null>(routes.filter(isAdministration).map(({ path }) => path));
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
    problems,
    db,
    keyRing,
    allowedOrigins,
    keyLimits,
    counters,
    idempotency,
    streams,
    drain,
    owed,
    redeemTicket,
    isDemo,
    clock,
    trustedProxies,
    log,
    outageLog,
    requestLog: new RequestLog(requestLines, log.isLevelEnabled('info'), record => {
      metrics?.onResponse(record);
      if (administration.has(record.route)) rejections.note(record);
    }),
    onDecision: metrics?.onDecision,
    tracing,
    connections: { total: config.connections, perAddress: config.connectionsPerAddress },
    onExcessConnection: (address, limit) => {
      excessLog.write(address, limit);
      metrics?.onExcessConnection(limit);
    },
    onOverdue: metrics?.onOverdue,
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
    responses: owed,
    db,
    problems,
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
    createFirstKey: storeSecret => createFirstKey({ db, keyLimits, now: clock.now() }, storeSecret),
    endLog: () => lineBuffer.end(),
    close: () => closing.disposeAsync(),
  };
}
