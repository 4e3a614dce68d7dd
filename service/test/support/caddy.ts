import { readFileSync, writeFileSync } from 'node:fs';
import { type IncomingMessage, request as requestPlain } from 'node:http';
import { type RequestOptions, request as requestTls } from 'node:https';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { connect } from 'node:tls';
import { debianEnvironment, debianProgram } from '../../../scripts/servers/debian-programs.ts';
import { freePort, startOnPort } from '../../../scripts/servers/ports.ts';
import { ServerProcess } from '../../../scripts/servers/server-process.ts';
import { readProjectFile } from './deploy-files.ts';

/** Caddy with the project's Caddyfile, in front of replicas on this machine. */
export class Caddy {
  readonly #port: number;
  readonly #tlsPort: number;
  readonly #authority: string;

  static async start(t: TestContext, ...replicas: number[]): Promise<Caddy> {
    const server = new ServerProcess('caddy');
    const { directory } = server;
    const caddyfile = join(directory, 'Caddyfile');
    t.after(() => server.close());
    let tlsPort = 0;
    const port = await startOnPort(undefined, async free => {
      tlsPort = await freePort();
      writeFileSync(caddyfile, onThisMachine({ port: free, tlsPort, replicas }));
      server.start(debianProgram('caddy'), ['run', '--config', caddyfile, '--adapter', 'caddyfile'], {
        env: {
          ...debianEnvironment(),
          HOME: directory,
          XDG_DATA_HOME: directory,
          XDG_CONFIG_HOME: directory,
        },
      });
      await server.untilReady('Caddy', async () => server.output().includes('serving initial configuration'));
    });
    const caddy = new Caddy(port, tlsPort, join(directory, 'caddy/pki/authorities/local/root.crt'));
    // Caddy listens before it has a certificate, and reports the certificate before it uses it.
    await server.untilReady('TLS of Caddy', () => caddy.#acceptsTls());
    return caddy;
  }

  private constructor(port: number, tlsPort: number, authority: string) {
    this.#port = port;
    this.#tlsPort = tlsPort;
    this.#authority = authority;
  }

  /** Whether a TLS handshake for the name localhost succeeds. */
  #acceptsTls(): Promise<boolean> {
    return new Promise(resolve => {
      const socket = connect({
        host: '127.0.0.1',
        port: this.#tlsPort,
        servername: 'localhost',
        rejectUnauthorized: false,
      });
      socket.once('secureConnect', () => {
        socket.destroy();
        resolve(true);
      });
      // A handshake fails until the certificate is in use.
      socket.once('error', () => resolve(false));
    });
  }

  /** The certificate that signs those of localhost. */
  get authority(): string {
    return readFileSync(this.#authority, 'utf8');
  }

  /** Sends a request by TLS for the name localhost, on its own connection. By default it trusts Caddy's authority. */
  send(options: RequestOptions, body?: object): Promise<IncomingMessage> {
    const headers = { Host: `localhost:${this.#tlsPort}`, ...contentOf(body), ...options.headers };
    return exchange(
      requestTls,
      {
        ca: this.authority,
        ...options,
        host: '127.0.0.1',
        servername: 'localhost',
        port: this.#tlsPort,
        headers,
      },
      body,
    );
  }

  /** Sends a request without TLS. */
  sendPlain(options: RequestOptions): Promise<IncomingMessage> {
    return exchange(requestPlain, { ...options, host: '127.0.0.1', port: this.#port });
  }
}

function contentOf(body?: object): Record<string, string> {
  return body === undefined ? {} : { 'Content-Type': 'application/json' };
}

function exchange(
  request: typeof requestTls,
  options: RequestOptions,
  body?: object,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request({ ...options, agent: false }, resolve)
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}

interface Ports {
  port: number;
  tlsPort: number;
  replicas: number[];
}

/** The Caddyfile with free ports, and with replicas on this machine instead of the containers' name. */
function onThisMachine({ port, tlsPort, replicas }: Ports): string {
  const addresses = replicas.map(replica => `a 127.0.0.1 ${replica} {\nrefresh 2s\n}`);
  const changes: Record<string, string> = {
    '\tadmin off\n': `\tadmin off\n\thttps_port ${tlsPort}\n`,
    '\n:8080 {': `\n:${port} {`,
    'dynamic a service 8080 {\n\t\t\trefresh 2s\n\t\t}': `dynamic multi {\n${addresses.join('\n')}\n}`,
  };
  let text = readProjectFile('deploy/Caddyfile');
  for (const [from, to] of Object.entries(changes)) {
    if (text.split(from).length !== 2) throw new Error(`deploy/Caddyfile must contain "${from.trim()}" once`);
    text = text.replace(from, to);
  }
  return text;
}
