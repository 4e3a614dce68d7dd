import type { DropArgument, Server, Socket } from 'node:net';
import { addressSubject, type TrustedProxies } from '../kit/client-address.ts';

export interface ConnectionLimits {
  /** The maximum number of open connections. */
  total: number;
  /** The maximum number of open connections from one address; IPv6 addresses count by /64. Trusted proxies have no such limit. */
  perAddress: number;
}

export interface ConnectionLimitOptions extends ConnectionLimits {
  trustedProxies: TrustedProxies;
  /** Called for each connection that is closed because there are too many: in total, or from its address. */
  onExcess: (address: string, limit: 'total' | 'address') => void;
}

/**
 * Closes connections beyond the limits at once and without a response: writing one, and waiting until the client reads it,
 * would cost more than the connection itself.
 */
export function limitConnections(
  server: Server,
  { total, perAddress, trustedProxies, onExcess }: ConnectionLimitOptions,
): void {
  const open = new Map<string, number>();
  server.maxConnections = total;
  server.on('drop', (dropped?: DropArgument) =>
    onExcess(addressSubject(dropped?.remoteAddress ?? ''), 'total'),
  );
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    if (trustedProxies.includes(remoteAddress)) return;
    const address = addressSubject(remoteAddress);
    const count = open.get(address) ?? 0;
    if (count >= perAddress) {
      socket.destroy();
      onExcess(address, 'address');
      return;
    }
    open.set(address, count + 1);
    socket.once('close', () => {
      const left = (open.get(address) ?? 0) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
}
