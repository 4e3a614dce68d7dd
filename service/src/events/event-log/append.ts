import type { Transaction } from '../../db/database.ts';
import { type EventType, subjectOf } from './event-types.ts';

/**
 * Appends an event to the log, in the transaction that makes the change. `data` is the resource after the change, or its last
 * state if it was deleted. The store of a request replaces the actor.
 */
export function appendEvent(tx: Transaction, type: EventType, id: number, data: object): void {
  tx.append({ type, subject: subjectOf(type, id), actor: 'system', data: JSON.stringify(data) });
}
