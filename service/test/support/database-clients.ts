import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { SECOND } from '../../src/kit/clock.ts';
import { replaceDelay } from './replace-delay.ts';

/** Makes every pause of a second end at once. */
export function withoutPauses(t: TestContext): void {
  replaceDelay(t, SECOND, 1);
}

/** The clients that connect to PostgreSQL from now on. */
export function watchClients(t: TestContext): Client[] {
  const clients: Client[] = [];
  const { connect } = Client.prototype;
  t.mock.method(Client.prototype, 'connect', function (this: Client, ...args: Parameters<typeof connect>) {
    clients.push(this);
    return connect.apply(this, args);
  });
  return clients;
}
