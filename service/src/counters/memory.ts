import { networkOfSubject } from '../kit/client-address.ts';
import { DAY } from '../kit/clock.ts';
import { AddressTable } from './address-table.ts';
import type { BucketKind, Counters } from './counters.ts';
import { type Decision, decide, type LimitState, newState, type Terms } from './decide.ts';
import {
  decideVisit,
  networkTermsOf,
  peekVisit,
  type VisitDecision,
  type VisitTerms,
} from './decide-visit.ts';
import { type CountedKey, KeyStates } from './key-states.ts';

/** The maximum number of addresses that are counted individually: about 20 MB when all are in use. */
const MAX_ADDRESSES = 65_536;

/** The maximum number of networks, or of keys for their accounts, that are counted individually: about 5 MB. */
const MAX_NETWORKS = 16_384;

/** The count of a visitor or of its network, for changing. */
interface VisitorCount {
  /** The end of its name, such as `visitor:192.0.2.1`. */
  name: string;
  state: LimitState;
  terms: Terms;
  /** Whether it may be removed soon. */
  isRemovable: boolean;
}

/** The name of a visitor or network of a publishable key in its table. A reset of the key also resets its visitors. */
function visitorName(keyId: number, resets: number, address: string): string {
  return `${keyId}:${resets}:${address}`;
}

/**
 * The limits of keys and addresses, in this process's memory. All but the states of keys are bounded in number, and lost at a
 * restart. Instants are in milliseconds since the Unix epoch.
 */
export class MemoryCounters implements Counters {
  readonly keys = new KeyStates();
  /** Requests without a key cannot displace the accounts of keys: each kind has a table of its own. */
  readonly buckets: Readonly<Record<BucketKind, AddressTable>>;
  /** The visitors of all publishable keys. */
  readonly visitors: AddressTable;
  /** The IPv6 networks of visitors. */
  readonly networks: AddressTable;

  constructor(maxAddresses = MAX_ADDRESSES) {
    const fewer = Math.min(maxAddresses, MAX_NETWORKS);
    this.buckets = { address: new AddressTable(maxAddresses), account: new AddressTable(fewer) };
    this.visitors = new AddressTable(maxAddresses);
    this.networks = new AddressTable(fewer);
  }

  decideKey(keyId: number, terms: Terms, now: number, cost = 1): Decision {
    const state = this.keys.toDecide(keyId, terms.resets);
    this.keys.noteChange(keyId, state, Math.floor(now / DAY));
    return decide(state, terms, now, cost);
  }

  decideVisit(keyId: number, address: string, terms: VisitTerms, now: number): VisitDecision {
    const key = this.keys.toDecide(keyId, terms.key.resets);
    this.keys.noteChange(keyId, key, Math.floor(now / DAY));
    const [visitor, network] = this.visitorCounts(keyId, key.resets, address, terms, now);
    return decideVisit([key, visitor.state, network?.state], terms, now);
  }

  peekVisit(keyId: number, address: string, terms: VisitTerms, now: number): VisitDecision {
    const key = this.keys.find(keyId, terms.key.resets) ?? newState(now, terms.key.resets);
    const stateIn = (table: AddressTable, subject: string) =>
      table.knownStateOf(visitorName(keyId, key.resets, subject)) ?? newState(now);
    const network = networkOfSubject(address);
    const ofNetwork = network === undefined ? undefined : stateIn(this.networks, network);
    return peekVisit([key, stateIn(this.visitors, address), ofNetwork], terms, now);
  }

  /** Returns the counts of a visitor of a publishable key, and of its network if it has one. */
  visitorCounts(
    keyId: number,
    resets: number,
    address: string,
    { visitor }: VisitTerms,
    now: number,
  ): readonly [visitor: VisitorCount, ...network: VisitorCount[]] {
    const countIn = (table: AddressTable, kind: string, subject: string, terms: Terms): VisitorCount => {
      const state = table.stateOf(visitorName(keyId, resets, subject), terms, now);
      const name = `${kind}:${table.isShared(state) ? 'others' : subject}`;
      return { name, state, terms, isRemovable: table.isRemovable(state, terms) };
    };
    const ofVisitor = countIn(this.visitors, 'visitor', address, visitor);
    const network = networkOfSubject(address);
    if (network === undefined) return [ofVisitor];
    return [ofVisitor, countIn(this.networks, 'network', network, networkTermsOf(visitor))];
  }

  decideBucket(kind: BucketKind, name: string, terms: Terms, now: number): Decision {
    return this.buckets[kind].decide(name, terms, now);
  }

  peekBucket(kind: BucketKind, name: string, terms: Terms, now: number): Decision {
    return this.buckets[kind].peek(name, terms, now);
  }

  async statesOfKeys(keys: readonly CountedKey[]): Promise<Map<number, Readonly<LimitState>>> {
    const states = new Map<number, Readonly<LimitState>>();
    for (const { keyId, resets } of keys) {
      const state = this.keys.find(keyId, resets);
      if (state) states.set(keyId, state);
    }
    return states;
  }

  status(): 'own' {
    return 'own';
  }

  async open(): Promise<void> {}

  async close(): Promise<void> {}
}
