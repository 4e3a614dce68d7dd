import type { LookupAddress } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { SECOND } from '../../kit/clock.ts';
import type { Resolve } from './endpoints.ts';

/** Looks up names as the operating system does, including its hosts file. For development. */
export const resolveLocally: Resolve = hostname => lookup(hostname, { all: true });

/**
 * Queries the name servers. The look-up of the operating system has only two threads per process: two names that resolve
 * slowly would block all others.
 */
export function resolveByServers(resolver = new Resolver({ timeout: 2 * SECOND, tries: 2 })): Resolve {
  return async hostname => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const found = [...addressesOf(four, 4), ...addressesOf(six, 6)];
    if (found.length === 0 && four.status === 'rejected') throw four.reason;
    return found;
  };
}

function addressesOf(outcome: PromiseSettledResult<string[]>, family: number): LookupAddress[] {
  return outcome.status === 'fulfilled' ? outcome.value.map(address => ({ address, family })) : [];
}
