import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { startOnPort } from '../../../scripts/servers/ports.ts';

interface Link {
  near: Socket;
  far: Socket;
}

/** PostgreSQL, chapter 55.7. */
const TERMINATE = Buffer.from('X\0\0\0\x04');

/** What happens to a statement or to its response: the connection breaks, or only the network falls silent. */
type Fate = 'is not sent' | 'is cut off' | 'never arrives';

/** The message of a COMMIT, and the tag of its response. BEGIN … READ COMMITTED does not contain it. */
export const COMMIT = 'COMMIT\0';

/** The URL of a database without the time limit to connect that tests have: that of production applies. */
export function withoutConnectTimeout(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.delete('connect_timeout');
  return url.href;
}

/** A network between the service and PostgreSQL that can be disturbed. */
export class DatabaseProxy {
  /** The URL of the database through this network. */
  readonly url: string;
  /** The fate of the next messages that contain a text. The text of a statement is sent, a response starts with its tag. */
  fate: readonly [text: string, fate: Fate] | undefined;
  /** Replaces a text in each message of the service by another of the same length, so that a feature seems to be missing. */
  replacement: readonly [text: string, by: string] | undefined;
  /** Whether the service's end of a connection is read, and not forwarded or confirmed. */
  dropsEnds = false;
  /** Whether requests to cancel a statement are read, and not forwarded. */
  dropsCancels = false;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #isSilent = false;

  private constructor(server: Server, databaseUrl: string) {
    this.#server = server;
    const { hostname, port } = new URL(databaseUrl);
    const url = new URL(databaseUrl);
    url.port = String((server.address() as { port: number }).port);
    this.url = url.href;
    server.on('connection', near => this.#join({ near, far: connect(Number(port), hostname) }));
  }

  static async between(t: TestContext, databaseUrl: string): Promise<DatabaseProxy> {
    const server = createServer({ allowHalfOpen: true });
    await startOnPort(undefined, async port => {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    });
    const proxy = new DatabaseProxy(server, databaseUrl);
    t.after(() => {
      server.close();
      for (const { near, far } of proxy.#links) {
        near.destroy();
        far.destroy();
      }
    });
    return proxy;
  }

  /** From now on, forwards nothing, not even the end of a connection, so that each side waits for the other. */
  goSilent(): void {
    this.#isSilent = true;
  }

  /** Forwards new connections again. Connections that were silent before remain silent. */
  restore(): void {
    this.#isSilent = false;
  }

  cut(): void {
    for (const { near } of this.#links) near.resetAndDestroy();
  }

  /** Breaks every connection and rejects new ones. */
  async reject(): Promise<void> {
    const port = Number(new URL(this.url).port);
    this.#server.close();
    this.cut();
    await once(this.#server, 'close');
    this.accept = async () => {
      this.#server.listen(port, '127.0.0.1');
      await once(this.#server, 'listening');
    };
  }

  /** Accepts connections again after `reject`. */
  accept: () => Promise<void> = async () => {};

  #replaced(bytes: Buffer): Buffer {
    if (!this.replacement) return bytes;
    const [text, by] = this.replacement;
    return Buffer.from(bytes.toString('latin1').replaceAll(text, by), 'latin1');
  }

  #join(link: Link): void {
    const { near, far } = link;
    let isSilent = this.#isSilent;
    const isForwarding = () => {
      isSilent ||= this.#isSilent;
      return !isSilent;
    };
    this.#links.add(link);
    const fateOf = (bytes: Buffer) => (this.fate && bytes.includes(this.fate[0]) ? this.fate[1] : undefined);
    near.on('end', () => {
      if (isForwarding() && !this.dropsEnds) near.end();
    });
    near.on('data', bytes => {
      if (!isForwarding() || (this.dropsEnds && bytes.includes(TERMINATE))) return;
      if (this.dropsCancels && isCancelRequest(bytes)) near.end();
      else if (fateOf(bytes) === 'is not sent') near.resetAndDestroy();
      else far.write(this.#replaced(bytes));
    });
    far.on('data', bytes => {
      if (!isForwarding()) return;
      const fate = fateOf(bytes);
      if (fate === 'is cut off') near.resetAndDestroy();
      else if (fate === 'never arrives') isSilent = true;
      else near.write(bytes);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => {
        if (isForwarding()) other.destroy();
        if (near.destroyed && far.destroyed) this.#links.delete(link);
      });
    }
  }
}

/** PostgreSQL, chapter 55.7. */
function isCancelRequest(bytes: Buffer): boolean {
  return bytes.length === 16 && bytes.readInt32BE(4) === 80_877_102;
}
