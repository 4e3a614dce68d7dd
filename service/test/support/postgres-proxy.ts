import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What becomes of a statement that comes by: it may be passed on, and its answer may be. */
type Fate = 'answered' | 'done but not answered' | 'not done' | 'done and never answered';

/** A way to the server on which answers can be lost. */
export interface PostgresProxy {
  /** The URL of the database by this way. */
  url: string;
  /** Decides what becomes of the next statement that contains a text. */
  decide: (statement: string, fate: Fate) => void;
  /** Breaks every connection; new ones are taken. */
  cut: () => void;
  close: () => void;
}

/** Starts a proxy before the server of a database. */
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
      const fate = awaited && bytes.includes(awaited.statement) ? awaited.fate : 'answered';
      if (fate !== 'answered') awaited = undefined;
      if (fate === 'not done') return breakBoth();
      if (fate === 'done but not answered') upstream.once('data', breakBoth);
      isMute ||= fate !== 'answered';
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
