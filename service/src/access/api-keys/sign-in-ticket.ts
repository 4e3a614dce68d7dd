import { secretPrefixes } from '../../contract/secret-forms.ts';
import type { Statements, Writer } from '../../db/database.ts';
import { latestCredible, MINUTE } from '../../kit/clock.ts';
import { randomBase62 } from '../../kit/ids.ts';
import { hashOf } from './secret.ts';

/** How long a ticket is valid, in milliseconds. */
export const TICKET_LIFETIME = 15 * MINUTE;

const PREFIX = secretPrefixes.ticket;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{32}$`);

/**
 * Stores the ticket of a link that signs one browser in to the console, once. Returns its text with 190 random bits; the store has
 * only the hash. It replaces an earlier ticket. `now` is in milliseconds since the Unix epoch.
 */
export async function issueTicket(db: Writer, now: number): Promise<string> {
  const text = PREFIX + randomBase62(32);
  await db.write(async tx => {
    await tx.run('DELETE FROM sign_in_tickets');
    await tx.run('INSERT INTO sign_in_tickets (hash, issued_at) VALUES (?, ?)', [hashOf(text), now]);
  });
  return text;
}

/** Whether a text has the form of a ticket. Other texts need no transaction. */
export function isTicket(text: string): boolean {
  return FORM.test(text);
}

/** Whether the text is that of a valid ticket. If it is, the ticket is used up when the transaction is committed. */
export async function redeemTicket(tx: Statements, text: string, now: number): Promise<boolean> {
  const hash = hashOf(text);
  const used = await tx.get<{ issued_at: number }>(
    'DELETE FROM sign_in_tickets WHERE hash = ? RETURNING issued_at',
    [hash],
  );
  // A clock that ran ahead must not make it valid for longer.
  return (
    used !== undefined && now < used.issued_at + TICKET_LIFETIME && used.issued_at <= latestCredible(now)
  );
}
