import type { Pet, PetStatus } from '@petstore/client';
import type { Session } from '../app/session.ts';
import { reasonAgainst, type StatusFacts } from './pet-status.ts';

/** A change of many pets. */
export type BulkChange =
  | { kind: 'status'; status: PetStatus }
  | { kind: 'category'; categoryId: number }
  | { kind: 'delete' };

/** What a change does to each pet. */
export interface BulkPlan {
  changed: readonly Pet[];
  /** Pets that already are what the change makes of them. */
  same: readonly Pet[];
  /** Pets that the service would reject, as far as is known. They are not sent. */
  rejected: readonly { pet: Pet; reason: string }[];
}

const unknown: StatusFacts = { stock: undefined, hasOpenOrders: undefined };

/** Returns what a change would do to pets, some of which may be `gone`. The service decides in the end. */
export function planOf(
  pets: readonly Pet[],
  change: BulkChange,
  facts: ReadonlyMap<number, StatusFacts>,
  gone: ReadonlySet<number> = new Set(),
): BulkPlan {
  const changed: Pet[] = [];
  const same: Pet[] = [];
  const rejected: { pet: Pet; reason: string }[] = [];
  for (const pet of pets) {
    const reason = gone.has(pet.id) ? 'It was deleted' : reasonOf(pet, change, facts.get(pet.id) ?? unknown);
    if (reason !== undefined) rejected.push({ pet, reason });
    else if (isSame(pet, change)) same.push(pet);
    else changed.push(pet);
  }
  return { changed, same, rejected };
}

/** The fields that a change writes, as a merge patch (RFC 7396). */
export function patchOf(change: ReversibleChange): Partial<Pet> {
  return change.kind === 'status' ? { status: change.status } : { categoryId: change.categoryId };
}

/** A change whose old values can be written again. */
export type ReversibleChange = Exclude<BulkChange, { kind: 'delete' }>;

/** Whether a change sells pets, which sets their stock to 0. */
export function isSale(change: BulkChange): boolean {
  return change.kind === 'status' && change.status === 'sold';
}

/** Whether a change can be undone. That of a sale needs the stock of before, and a deleted pet does not come back. */
export function isReversible(change: BulkChange, can: Session['can']): change is ReversibleChange {
  if (isSale(change)) return can('inventory:read') && can('inventory:write');
  return change.kind !== 'delete';
}

function isSame(pet: Pet, change: BulkChange): boolean {
  if (change.kind === 'delete') return false;
  if (change.kind === 'category') return pet.categoryId === change.categoryId;
  return statusOf(pet) === change.status;
}

function reasonOf(pet: Pet, change: BulkChange, facts: StatusFacts): string | undefined {
  if (change.kind === 'status') return reasonAgainst(statusOf(pet), change.status, facts);
  if (change.kind === 'delete' && facts.hasOpenOrders)
    return 'It has open orders: complete or cancel them first';
  return undefined;
}

const statusOf = ({ status = 'available' }: Pet): PetStatus => status;
