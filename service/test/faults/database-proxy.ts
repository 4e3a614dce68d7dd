import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

interface Link {
  /** To the service. */
  near: Socket;
  /** To PostgreSQL. */
  far: Socket;
}

/** What becomes of an answer to COMMIT. */
type CommitFate = 'arrives' | 'is cut off' | 'never arrives';

/** A network between the service and PostgreSQL that can be disturbed. */
export class DatabaseProxy {
  /** Of the database, through this network. */
  readonly url: string;
  commitResponse: CommitFate = 'arrives';
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
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
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

  /** From now on nothing passes, not even that a side has closed: each waits for the other. */
  goSilent(): void {
    this.#isSilent = true;
  }

  /** New connections pass; what was silent before stays so. */
  heal(): void {
    this.#isSilent = false;
  }

  /** Breaks every connection. */
  cut(): void {
    for (const { near } of this.#links) near.resetAndDestroy();
  }

  /** Breaks every connection and lets nobody connect. */
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

  /** Ends what `reject` began. */
  accept: () => Promise<void> = async () => {};

  #join(link: Link): void {
    const { near, far } = link;
    let isSilent = this.#isSilent;
    let isCommitting = false;
    const passes = () => {
      isSilent ||= this.#isSilent;
      return !isSilent;
    };
    this.#links.add(link);
    near.on('data', bytes => {
      if (!passes()) return;
      isCommitting = bytes.includes('COMMIT\0');
      far.write(bytes);
    });
    far.on('data', bytes => {
      if (!passes()) return;
      if (isCommitting && this.commitResponse === 'is cut off') near.resetAndDestroy();
      else if (isCommitting && this.commitResponse === 'never arrives') isSilent = true;
      else near.write(bytes);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => {
        if (passes()) other.destroy();
        if (near.destroyed && far.destroyed) this.#links.delete(link);
      });
    }
  }
}
