import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What the proxy does with a statement: whether it forwards the statement, and whether it forwards the response. */
type Fate = 'response sent' | 'done, then disconnected' | 'not done' | 'done, then silent';

/** A proxy to PostgreSQL that can drop statements and responses. */
export interface PostgresProxy {
  /** The URL of the database through the proxy. */
  url: string;
  /** Decides the fate of the next statement that contains a text. */
  decide: (statement: string, fate: Fate) => void;
  /** Breaks every connection. New connections are accepted. */
  cut: () => void;
  close: () => void;
}

/** Starts a proxy to the server of a database. */
export async function startPostgresProxy(url: string): Promise<PostgresProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let awaited: { statement: string; fate: Fate } | undefined;

  const server = createServer(client => {
    const upstream = connect(Number(target.port), target.hostname);
    let isMute = false;
    const breakBoth = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        breakBoth();
      });
    }
    client.on('data', bytes => {
      const fate = awaited && bytes.includes(awaited.statement) ? awaited.fate : 'response sent';
      if (fate !== 'response sent') awaited = undefined;
      if (fate === 'not done') return breakBoth();
      if (fate === 'done, then disconnected') upstream.once('data', breakBoth);
      isMute ||= fate !== 'response sent';
      upstream.write(bytes);
    });
    upstream.on('data', bytes => {
      if (!isMute) client.write(bytes);
    });
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const through = new URL(url);
  through.port = String((server.address() as AddressInfo).port);
  return {
    url: through.href,
    decide: (statement, fate) => {
      awaited = { statement, fate };
    },
    cut,
    close: () => {
      cut();
      server.close();
    },
  };
}
