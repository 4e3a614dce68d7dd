import { dateAfter } from './errors.ts';

/** A part of its limits that the API key has used. */
export interface UsedQuota {
  window: 'minute' | 'day';
  /** 80, 95 or 100; of the minute 100. */
  percent: number;
  limit: number;
  /** The end of the UTC day, by the clock of this machine. */
  resetAt: Date;
}

/**
 * Reports the parts of its limits that the key has used, which are in all responses until the end of the UTC day: each once, as
 * `reported` has those of earlier responses.
 */
export function reportQuotas(
  headers: Headers,
  reported: Set<string>,
  onQuota: (quota: UsedQuota) => void,
): void {
  const header = headers.get('X-Quota-Warning') ?? '';
  for (const [, window, percent, limit, seconds] of header.matchAll(/"(.+?)";p=(\d+);q=(\d+);t=(\d+)/g)) {
    const resetAt = dateAfter(Number(seconds) * 1000);
    // Rounded to days, because each response gives whole seconds.
    const name = `${window}${percent}/${limit}/${Math.round(+resetAt / 86_400_000)}`;
    if (reported.has(name)) continue;
    reported.add(name);
    onQuota({ window, percent: Number(percent), limit: Number(limit), resetAt } as UsedQuota);
  }
}
