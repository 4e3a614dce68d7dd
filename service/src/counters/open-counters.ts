import type { Counters } from './counters.ts';
import { MemoryCounters } from './memory.ts';
import { SharedCounters, type SharedCountersOptions } from './redis.ts';

/** Returns counters in Redis, or only in this process without a URL. */
export function openCounters(options: SharedCountersOptions): Counters {
  return options.urls.length === 0 ? new MemoryCounters() : new SharedCounters(options);
}
