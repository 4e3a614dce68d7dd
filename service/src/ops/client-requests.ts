import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Counter, type Registry } from 'prom-client';

/** The programs of this project, as they name themselves. */
const programs = ['client', 'command', 'console'] as const;

const OTHER = 'other';

/** The version of this release, which the programs that it offers have. */
const own: string = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../package.json'), 'utf8'),
).version;

/** Counts requests by the program of this project that sent them. Each label is from a table, so that no request can add a series. */
export class ClientRequests {
  readonly #counts: Counter<'client' | 'version'>;

  constructor(registry: Registry) {
    this.#counts = new Counter({
      name: 'petstore_client_requests_total',
      help: 'Requests by the program of this project that sent them, and its version if it is that of the service.',
      labelNames: ['client', 'version'],
      registers: [registry],
    });
    for (const client of programs) this.#counts.inc({ client, version: own }, 0);
  }

  /** Counts a request. `name` is what its program calls itself, such as `petstore-client/1.0.0 (node 24)`. */
  readonly count = (name: string | null): void => {
    this.#counts.inc(labelsOf(name ?? ''));
  };
}

function labelsOf(text: string): { client: string; version: string } {
  const [, name, version] = /^petstore-(\w+)\/(\S+)/.exec(text) ?? [];
  const client = programs.find(program => program === name) ?? OTHER;
  return { client, version: client !== OTHER && version === own ? own : OTHER };
}
