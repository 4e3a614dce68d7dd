import type { App } from '../app.ts';
import { SECOND } from '../kit/clock.ts';

/** The shortest drain, in milliseconds, so that new connections in transit are not cut off. */
const SHORTEST_DRAIN = 50;

/** The same signal within this time, in milliseconds, counts once: npm forwards a signal that this process also received. */
const SAME_SIGNAL = SECOND;

/** Closes the app after SIGTERM or SIGINT. Another signal, or the same one later, cuts the drain short. */
export function closeOnSignal(app: App): void {
  const { log, config } = app;
  const drained = Promise.withResolvers<void>();
  let first: { signal: NodeJS.Signals; at: number } | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (first === undefined) {
      first = { signal, at: performance.now() };
      log.info({ signal, drainSeconds: config.drainSeconds }, 'Shutting down');
      app.drain.begin();
      // The timer of a drain that was cut short must not keep the process alive.
      setTimeout(drained.resolve, Math.max(SHORTEST_DRAIN, config.drainSeconds * SECOND)).unref();
    } else if (signal !== first.signal || performance.now() - first.at > SAME_SIGNAL) {
      drained.resolve();
    }
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  void drained.promise.then(() => shutDown(app));
}

async function shutDown(app: App): Promise<void> {
  const { server: http } = app.server;
  const deadline = setTimeout(() => {
    http.getConnections((_error, connections) => {
      if (connections === 0) return;
      app.log.warn({ connections }, 'Requests still in flight were cut off');
      http.closeAllConnections();
    });
  }, app.config.shutdownSeconds * SECOND);
  // Only requests have this deadline: storing counts and ending webhook attempts have their own.
  http.once('close', () => clearTimeout(deadline));
  try {
    await app.close();
  } catch (error) {
    app.log.fatal({ err: error }, 'Shutdown failed');
    process.exitCode = 1;
  }
}
