import type { Transaction } from '../../db/database.ts';
import { type EventType, subjectOf } from './event-types.ts';

/** Tells of a change, in the transaction that makes it. `data` is the resource after it, or what a deleted one was. */
export function appendEvent(tx: Transaction, type: EventType, id: number, data: object): void {
  tx.append({ type, subject: subjectOf(type, id), data: JSON.stringify(data) });
}
