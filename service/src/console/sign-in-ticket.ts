import { hash, timingSafeEqual } from 'node:crypto';
import { MINUTE } from '../kit/clock.ts';
import { randomBase62 } from '../kit/ids.ts';

/** How long a ticket is valid, in milliseconds. */
const LIFETIME = 15 * MINUTE;

/**
 * Signs one browser in, once, in the first minutes after the first start. Its text is only in the link that the start prints;
 * memory has its hash, and nothing is stored. Instants are in milliseconds since the Unix epoch.
 */
export class SignInTicket {
  #hash: Buffer | undefined;
  #expiresAt = 0;

  /** Returns the text of a new ticket with 190 random bits. It replaces an earlier one. */
  issue(now: number): string {
    const text = randomBase62(32);
    this.#hash = hashOf(text);
    this.#expiresAt = now + LIFETIME;
    return text;
  }

  /** Whether the text is that of the ticket. After `true` it is used up. */
  redeem(text: string, now: number): boolean {
    const isValid =
      this.#hash !== undefined && now < this.#expiresAt && timingSafeEqual(hashOf(text), this.#hash);
    if (isValid) this.#hash = undefined;
    return isValid;
  }
}

function hashOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}
