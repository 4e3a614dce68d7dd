import type { Counters } from './counters.ts';
import { MemoryCounters } from './memory.ts';
import { SharedCounters, type SharedCountersOptions } from './redis.ts';

/** Counters in Redis, or in this process alone when no URL is given. */
export function openCounters(options: SharedCountersOptions): Counters {
  return options.urls.length === 0 ? new MemoryCounters() : new SharedCounters(options);
}
