import { DatabaseUnavailable, type Statements, type Writer } from '../db/database.ts';
import type { Clock } from '../kit/clock.ts';
import type { Feature } from '../routes/feature.ts';
import { accountRoutes } from './accounts/account-routes.ts';
import { apiKeyRoutes } from './api-keys/api-key-routes.ts';
import * as apiKeys from './api-keys/api-keys.ts';
import { warnOfExpiry } from './key-warnings/expiry-warnings.ts';
import { sweepQuotaWarnings } from './key-warnings/quota-warnings.ts';
import { type LeakServices, leakRoutes } from './leaked-keys/leak-routes.ts';
import { planRequestRoutes } from './plan-requests/plan-request-routes.ts';
import type { Rejections } from './rejections/rejections.ts';

export interface AccessOptions extends LeakServices {
  db: Statements & Writer;
  clock: Clock;
  /** How often counts are stored, in milliseconds. */
  flushInterval: number;
  /** Called when counts could not be stored. The next flush stores them; the last one throws instead, unless the store is read-only. */
  onFlushError: (error: unknown) => void;
  rejections: Rejections;
}

/** API keys, with their limits, bans and usage. */
export function accessFeature(options: AccessOptions): Feature {
  const { db, clock, keyLimits, rejections } = options;
  let flusher: NodeJS.Timeout | undefined;
  return {
    routes: [
      ...accountRoutes({ keyLimits }),
      ...planRequestRoutes({ keyLimits }),
      ...apiKeyRoutes({ keyLimits }),
      ...leakRoutes(options),
    ],
    start: async () => {
      await keyLimits.load(clock.now());
      flusher = flushRegularly(options);
    },
    sweeps: {
      'key limits': now => keyLimits.sweep(now),
      'counts in Redis': () => keyLimits.catchUp(),
      'quota warnings': now => sweepQuotaWarnings(db, now),
      'expiring keys': now => warnOfExpiry(db, now),
      'rotated keys': now => apiKeys.sweepSecrets(db, now),
      rejections: () => rejections.flushOne(db),
    },
    close: async () => {
      clearInterval(flusher);
      try {
        await keyLimits.flush();
        await rejections.close(db);
      } catch (error) {
        // Waiting does not help on a standby: with Redis the counts are there, otherwise they are lost. The log shows it.
        if (error instanceof DatabaseUnavailable && error.writeProblem === 'readOnly')
          options.onFlushError(error);
        else throw new Error('The last counts could not be stored', { cause: error });
      }
    },
  };
}

/** Runs one flush at a time: while a database hangs, more and more of them would wait for each other. */
function flushRegularly({ keyLimits, flushInterval, onFlushError }: AccessOptions): NodeJS.Timeout {
  let isFlushing = false;
  const flush = async () => {
    if (isFlushing) return;
    isFlushing = true;
    await keyLimits.flush().catch(onFlushError);
    isFlushing = false;
  };
  return setInterval(flush, flushInterval).unref();
}
