import type { Client } from 'pg';

/**
 * Sends all queries that a connection receives until `defer` calls back in one write: a write costs the caller more than
 * the rest of a query, and wakes the server.
 */
export function sendTogether(
  { connection: { stream } }: Pick<Client, 'connection'>,
  defer: (send: () => void) => void,
): void {
  if (stream.writableCorked > 0) return;
  stream.cork();
  defer(() => stream.uncork());
}
