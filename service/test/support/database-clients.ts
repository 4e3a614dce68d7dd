import type { TestContext } from 'node:test';
import { Client } from 'pg';
import { SECOND } from '../../src/kit/clock.ts';

/** Makes every pause of a second end at once. */
export function withoutPauses(t: TestContext): void {
  const { setTimeout } = globalThis;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, delay: number) =>
    setTimeout(run, delay === SECOND ? 1 : delay),
  );
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
