import type { WindowLimits } from '../../counters/windows.ts';

/** Requests admitted per UTC minute and per UTC day. */
export type Limits = WindowLimits;

/** The plans with fixed limits; each Enterprise key has limits of its own (`quotas`). */
export const planLimits = {
  free: { perMinute: 60, perDay: 1_000 },
  pro: { perMinute: 300, perDay: 10_000 },
  business: { perMinute: 1_000, perDay: 100_000 },
} as const satisfies Record<string, Limits>;

export const plans = ['free', 'pro', 'business', 'enterprise'] as const;

export type Plan = (typeof plans)[number];
